-- Functions that call themselves: one call, two, three; results that are dropped; arguments of other types.
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local function ack(m, n)
  if m == 0 then return n + 1 end
  if n == 0 then return ack(m - 1, 1) end
  return ack(m - 1, ack(m, n - 1))
end
local function tak(x, y, z)
  if y >= x then return z end
  local a = tak(x - 1, y, z)
  local b = tak(y - 1, z, x)
  local c = tak(z - 1, x, y)
  return tak(a, b, c)
end
local count = 0
local function drop(n)
  count = count + 1
  if n > 0 then drop(n - 1) drop(n - 1) end
end
local function many(n)
  if n == 0 then return 1, 2, 3 end
  local a, b = many(n - 1)
  local c, d, e, f = many(n - 1)
  return a + c, (b or 0) + d, e, f
end
for _, n in ipairs { 10, 15.0, 12, 16 } do print(fib(n), ack(2, n)) end
print(tak(9, 6, 2))
drop(9)
print(count, many(7))
-- Types that change at the entry and after the call.
local function mixed(n)
  if n <= 0 then return n % 2 == 0 and "even" or 1.5 end
  local r = mixed(n - 1)
  if type(r) == "string" then return #r + n end
  if r == math.floor(r) and r > 40 then return "long" .. r end
  return r + 0.5
end
for n = 1, 120, 7 do io.write(tostring(mixed(n)), " ") end
print()
-- Into functions that others call in turn.
local is_odd
local function is_even(n) if n == 0 then return true end return (is_odd(n - 1)) end
function is_odd(n) if n == 0 then return false end return (is_even(n - 1)) end
for n = 0, 60, 13 do io.write(tostring(is_even(n)), " ", tostring(is_odd(n)), " ") end
print()
local function f(n, g) if n == 0 then return 0 end return 1 + g(n - 1, f) end
local function g(n, h) if n == 0 then return 0.5 end return 2 * h(n - 1, g) end
for n = 1, 40, 3 do io.write(f(n, g), " ") end
print()
