-- Loops left by break at different places, and nested ones.
local function find(a, x)
  local at
  for i = 1, #a do
    if a[i] == x then at = i; break end
  end
  return at
end
local a = {}
for i = 1, 30 do a[i] = i * 3 end
for i = 1, 12 do io.write(tostring(find(a, i * 10)), " ") end
print(find(a, 90), find(a, 3), find(a, "x"))
local n = 0
for i = 1, 20 do
  for j = 1, 20 do
    if j > i then break end
    if j == 13 then goto out end
    n = n + j
  end
end
::out::
print(n)
local k = 0
while true do
  k = k + 1
  if k % 7 == 0 and k > 20 then break end
end
print(k)
repeat
  k = k - 1
  if k == 10 then break end
until k < 5
print(k)
