-- Variables that turn from integer to float and back, keys that are floats, comparisons across the two, exact limits.
local s = 0
for i = 1, 120 do
  if i % 40 == 0 then s = s + 0.5 elseif i % 40 == 1 and i > 1 then s = s // 1 | 0 end
  s = s + i
end
print(s, math.type(s))
local big = 2 ^ 53
local n = 0
for i = 9007199254740992 - 60, 9007199254740992 + 60 do
  if i < big then n = n + 1 end
  if i == big then n = n + 1000 end
  if i > big then n = n + 1000000 end
  if i + 0.0 == i then n = n + 0.5 end
end
print(n)
local t = {}
for i = 1, 60 do t[i + 0.0] = i; t[i * 0.5] = i end
print(#t, t[30], t[0.5], t[29.5], t[60])
local keys = 0
for k in pairs(t) do if math.type(k) == "float" then keys = keys + 1 end end
print(keys)
local m = 0
for i = 1, 90 do
  local x = i % 3 == 0 and i or i * 1.0
  m = m + x // 2 + x % 3
  if math.type(x // 2) == "float" then m = m + 100 end
  if 3 | 0 == 3.0 then m = m + 1 end
end
print(m)
for _, v in ipairs { math.maxinteger, math.mininteger, 1 << 62 } do
  local c = 0
  for i = 1, 60 do
    local f = v + 0.0
    if f == v then c = c + 1 end
    if v < f then c = c + 100 end
    if v > f then c = c + 10000 end
    if f // 1 == f then c = c + 0.25 end
  end
  print(c)
end
print(pcall(function() local x = 0 for i = 1, 80 do x = x | (i < 70 and i or i + 0.5) end end))
print(pcall(function() local x = 0 for i = 1, 80 do x = x | (i < 70 and i * 2.0 or 2 ^ 63) end end))
local u = 0
local u = 0
for i = 1, 60 do
  u = u + (math.tointeger(i * 1.0) or 1e9) + (math.tointeger(i + 0.5) or 1)
  if math.ult(i, -i) then u = u + 1 end
end
print(u)
local div = {}
for i = -6, 6 do
  for j = -3, 3 do
    if j ~= 0 then div[#div + 1] = i // j .. "," .. i % j .. "," .. (i + 0.0) // j .. "," .. i % (j + 0.0) end
  end
end
print(table.concat(div, " "))
local neg = 0
for i = 1, 60 do local z = (i % 2 == 0 and 0 or -0.0) * 1.0; if 1 / z < 0 then neg = neg + 1 end end
print(neg)
