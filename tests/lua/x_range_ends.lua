-- Integer for loops at the ends of the range, steps that would overflow, limits that are floats, empty loops, bad ones.
local max, min = math.maxinteger, math.mininteger
local function count(a, b, c)
  local n, first, last = 0, nil, nil
  for i = a, b, c do n = n + 1; first = first or i; last = i end
  return n, first, last
end
print(count(max - 60, max, 1))
print(count(min + 60, min, -1))
print(count(max - 100, max, 3))
print(count(min, max, max // 40))
print(count(max, min, min // 40))
print(count(max - 5, max, max), count(min, min + 5, max))
print(count(1, 0, 1), count(0, 1, -1), count(max, max, 1), count(min, min, -1))
print(count(1, 60.9, 1))
print(count(-1, -60.9, -1))
print(count(max - 50, 1e300, 1))
print(count(min + 50, -math.huge, -1))
print(count(1, 0 / 0, 1))
print(count(1, 50, 1.0))
print(count(1.5, 40, 1))
for _, bad in ipairs { { 1, 10, 0 }, { 1, 10, 0.0 }, { "1", 10, 1 }, { 1, {}, 1 }, { 1, 10, "x" }, { nil, 1, 1 } } do
  print(pcall(count, bad[1], bad[2], bad[3]))
end
-- The variable is a copy: writing it changes nothing.
local s = 0
for i = 1, 100 do local j = i; i = i * 2; s = s + i - j end
print(s)
-- Arithmetic that wraps inside.
local w = 0
for i = max - 80, max do w = w + i + i; w = w ~ (i - min) end
print(w)
for round = 1, 3 do
  local t = 0
  for i = max - 70 + round, max, round do t = t + (i % 7) end
  print(t)
end
