-- Sums of arrays of floats, integers and both, by one loop: the loop must follow the types of elements and of the sum.
local function sum(a, n)
  local s = 0
  for i = 1, n do s = s + a[i] end
  return s
end

local floats, ints, mixed = {}, {}, {}
for i = 1, 50 do
  floats[i] = i / 3
  ints[i] = i * i - 7
  mixed[i] = i % 3 == 0 and i + 0.25 or i
end
print(sum(floats, 50), sum(ints, 50), sum(mixed, 50))
print(sum(ints, 50), sum(floats, 50), sum(mixed, 10))
print(sum(floats, 0), sum(ints, 1), sum(mixed, -3))
print(math.type(sum(ints, 7)), math.type(sum(floats, 7)), math.type(sum(mixed, 2)))
