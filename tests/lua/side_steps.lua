local function run (n, f)
  local s = 0
  for r = 1, n do s = s + f(r) end
  return s
end
local function steps (r)
  local s = 0
  for i = 1, 40, r % 5 + 1 do s = s + i end
  return s
end
local total = 0
for r = 1, 200 do
  for i = 1, 40, r % 5 + 1 do total = total + i * r end
end
print(total)
for r = 1, 200 do
  for i = 40, r % 3, -(r % 4) - 1 do total = total - i end
end
print(total)
for r = 1, 200 do
  for i = 1, r / 4 do total = total + i end
  for i = r, 9.5, -1 do total = total - i end
  for x = 1, 3.5, 0.5 do total = total + x end
  for x = r / 2, 1, -20 do total = total - x end
  for x = 0.5, r % 7 do total = total + x end
end
print(total)
local big = 0
for r = 1, 120 do
  for i = math.maxinteger - r % 3, math.maxinteger do big = big ~ i end
  for i = math.mininteger, math.mininteger + 10, 4 do big = big ~ i end
  for i = math.mininteger, math.maxinteger, math.maxinteger do big = big + 1 end
  for i = 1, 1e300, 1 << 62 do big = big + 1 end
  for i = 1, -1e300 do big = big + 100 end
  for i = 3, 0 / 0 do big = big + 1000 end
end
print(big)
print(pcall(function () local n = 0 for r = 1, 100 do for i = 1, 3, r == 77 and 0 or 1 do n = n + 1 end end end))
print(pcall(function () local n = 0 for r = 1, 100 do for i = 1.0, 3, r == 77 and 0 or 1 do n = n + 1 end end end))
print(pcall(function () local n = 0 for r = 1, 100 do for i = 1, r == 77 and "x" or 3 do n = n + 1 end end end))
