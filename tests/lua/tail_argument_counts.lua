-- Tail calls between functions with different numbers of parameters, more and fewer arguments than those, and
-- calls that are no tail calls in between; long enough that the stack would be full without tail calls.
local none, one, two, five
local limit = 0
function none()
  limit = limit - 1
  if limit <= 0 then return "none" end
  return five(limit)
end
function one(a)
  limit = limit - 1
  if limit <= 0 then return "one", a end
  return two(a, limit, "dropped")
end
function two(a, b)
  limit = limit - 1
  if limit <= 0 then return "two", a, b end
  if limit % 3 == 0 then return none(a, b) end
  return five(b, a)
end
function five(a, b, c, d, e)
  limit = limit - 1
  if limit <= 0 then return "five", a, b, c, d, e end
  if limit % 2 == 0 then return one(e or a, b, c, d) end
  return five(b or limit, c, limit, a)
end
for n = 1, 40 do
  limit = n
  print(n, one(n))
end
for _, n in ipairs { 1000, 4001, 6002 } do
  limit = n
  print(n, five(1, 2, 3, 4, 5))
end

-- The same by one function that calls itself with other arguments; the types change on the way.
local function shift(n, a, b, c)
  if n == 0 then return a, b, c end
  if n % 10 == 0 then return shift(n - 1, b) end
  if n % 7 == 0 then return shift(n - 1, a, c, b, n) end
  return shift(n - 1, b, c, a and n or n / 2)
end
for n = 0, 3000, 250 do print(n, shift(n, 1, 2, 3)) end

-- A tail call, then a plain call, then a tail call: the stack grows with every second one.
local plain
local function tail(n, s) if n == 0 then return s end return plain(n - 1, s + 1) end
function plain(n, s)
  if n == 0 then return s end
  local r = tail(n - 1, s * 2 % 1009)
  return r + 1
end
for n = 0, 300, 20 do io.write(tail(n, 1), " ", plain(n, 2), " ") end
print()

-- Accumulators: sums, products, reversed lists, greatest elements.
local function sum(n, acc) if n == 0 then return acc end return sum(n - 1, acc + n) end
local function sum_float(n, acc) if n == 0 then return acc end return sum_float(n - 1, acc + n / 4) end
local function product(n, acc) if n <= 1 then return acc end return product(n - 1, acc * n) end
local function reversed(t, i, out)
  if i == 0 then return out end
  out[#out + 1] = t[i]
  return reversed(t, i - 1, out)
end
print(sum(10000, 0), sum(100, 0.5), sum_float(1001, 0), product(20, 1), product(25, 1), product(25, 1.0))
local t = {}
for i = 1, 200 do t[i] = i % 50 == 0 and i / 2 or i end
t = reversed(t, #t, {})
print(#t, t[1], t[2], t[51], t[200])
print(pcall(sum, 5, "x"))
print(pcall(sum, "6", 0))
