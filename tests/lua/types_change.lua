-- Variables that change their type while a loop runs.
local s = 0
for i = 1, 30 do
  if i == 11 then s = s + 0.5 end
  if i == 21 then s = math.tointeger(s - 0.5) end
  s = s + i
end
print(s, math.type(s))
local v = nil
for i = 1, 20 do
  if v == nil then v = i elseif i == 8 then v = tostring(v) elseif type(v) == "string" then v = #v else v = v + 1 end
  io.write(tostring(v), " ")
end
print()
local t = { 1, 2.5, "3", true, false, {}, print, 4 }
local numbers, rest = 0, 0
for round = 1, 3 do
  for i = 1, 8 do
    local x = t[i]
    if x == true then rest = rest + 1
    elseif x == 1 or x == 2.5 or x == 4 then numbers = numbers + x
    else rest = rest + 10 end
  end
end
print(numbers, rest)
local a, b = 1, 1.5
for i = 1, 15 do a, b = b, a end
print(a, b)
local x, y, z = 1, "two", nil
for i = 1, 17 do x, y, z = y, z, x end
print(x, y, z)
