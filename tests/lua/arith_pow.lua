-- Powers: by 2, by other constants, by variables, of negative numbers, and of integers.
local s, t, u, v = 0, 0, 0, 0
for i = -15, 15 do
  s = s + i ^ 2
  t = t + (i / 4) ^ 3
  u = u + 2 ^ i
  local e = i % 4
  v = v + 3 ^ e
end
print(s, t, u, v)
local nans = 0
for i = -10, 10 do
  local r = i ^ 0.5
  if r ~= r then nans = nans + 1 end
end
print(nans)
for _, e in ipairs { 0, 1, 2, 2.0, -1, 0.5, 1 / 0 } do
  local x = 0
  for i = 1, 12 do x = x + i ^ e end
  print(e, x)
end
