-- The array grows while the loop runs over it, by the loop itself and by another one in turn.
local a = { 1, 2, 3 }
local n = 0
for i = 1, 60 do
  a[#a + 1] = a[i] + i
  n = n + a[i]
end
print(n, #a)

local b = { 1 }
local i = 1
while i <= #b do
  if #b < 100 then b[i + 1] = b[i] + 2 end
  i = i + 1
end
print(i, #b, b[1], b[50], b[100])

local function fill(t, m)
  for k = 1, m do t[k] = k end
  local s = 0
  for k = 1, m do s = s + t[k] end
  return s
end
local t = {}
for m = 1, 70, 9 do io.write(fill(t, m), " ") end
print(#t)
