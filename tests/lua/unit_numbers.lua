-- Numbers at their limits in a recursion: integers that wrap around, floats that are integers, infinities,
-- nan, negative zero, division by zero at some depth, conversions of strings, large shifts.
local function fact(n) if n == 0 then return 1 end return n * fact(n - 1) end
local function scale(n, x) if n == 0 then return x end return (scale(n - 1, x * 3 // 2)) end
local function halve(n, x) if n == 0 then return x end return (halve(n - 1, x / 2)) end
local function chain(n, x)
  if n == 0 then return x end
  local r = chain(n - 1, x)
  if n % 5 == 0 then return r % 7 elseif n % 5 == 1 then return r - 0.0 elseif n % 5 == 2 then return -r
  elseif n % 5 == 3 then return r // 0.3 else return r ^ 2 end
end
for i = 0, 30, 2 do
  print(i, fact(i), fact(i + 0.0), scale(i, math.maxinteger), scale(i, 1.0), halve(i, 1), halve(i * 40, -1))
end
for _, x in ipairs { 0, -0.0, 1 / 0, -1 / 0, 7, -3.5, math.mininteger } do
  for n = 0, 6 do io.write(tostring(chain(n, x)), " ") end
  print()
end
local nan = 0 / 0
local function same(n, x)
  if n == 0 then return x ~= x end
  if x == x then return (same(n - 1, x)) end
  return (same(n - 1, nan))
end
print(same(9, nan), same(9, 1), same(3, -nan))
local function divide(n, x, at)
  if n == at then return x // (n - at) end
  if n == 0 then return x end
  return divide(n - 1, x, at) + 1
end
for i = 1, 12 do io.write(divide(i, i, -1), " ") end
print()
for at = 0, 6, 3 do
  print(pcall(divide, 6, 1, at))
  print(pcall(divide, 6, 1.5, at))
  print(pcall(divide, 6, -1.5, at))
end
local function strings(n, x) if n == 0 then return x end return strings(n - 1, x) + "1" * n end
for i = 1, 12 do io.write(strings(i, "2"), " ", strings(i, "0x10"), " ", strings(i, "1.5"), "; ") end
print()
print(pcall(strings, 4, "x"))
local function shifts(n, x) if n == 0 then return x end return shifts(n - 1, x << n) | x >> n * 13 end
for i = 1, 12 do io.write(shifts(i, 3), " ", shifts(i, -1), " ", shifts(i, 2.0), "; ") end
print()
print(pcall(shifts, 3, 1.5))
local function equal(n, a, b) if n == 0 then return a == b end return (equal(n - 1, b, a)) end
print(equal(9, 1, 1.0), equal(8, 2 ^ 53, 2 ^ 53 + 1), equal(7, math.maxinteger, math.maxinteger + 0.0))
print(equal(5, "1", 1), equal(5, "x", "x"))
local function less(n, a, b) if n == 0 then return a < b end return (less(n - 1, b, a)) end
for i = 1, 9 do
  io.write(tostring(less(i, i, 5)), " ", tostring(less(i, i, 4.5)), " ", tostring(less(i, -0.0, 0)), " ")
end
print(less(4, "a", "b"), pcall(less, 4, "a", 1))
