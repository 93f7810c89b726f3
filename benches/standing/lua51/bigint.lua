-- Big integers: a sign and an array of digits in base 10^7, the lowest first.
-- Factorials, powers, Fibonacci numbers, long division, modular powers and the digits of pi.

local function div(a, b) return math.floor(a / b) end
local unpack = table.unpack or unpack

local BASE = 10000000
local BASE_DIGITS = 7

local Big = {}
Big.__index = Big

local function trim(d)
  local n = #d
  while n > 1 and d[n] == 0 do
    d[n] = nil
    n = n - 1
  end
  return d
end

local function make(digits, negative)
  trim(digits)
  if #digits == 1 and digits[1] == 0 then negative = false end
  return setmetatable({ digits = digits, negative = negative }, Big)
end

local function from_integer(n)
  local negative = n < 0
  if negative then n = -n end
  local d = {}
  repeat
    d[#d + 1] = n % BASE
    n = div(n, BASE)
  until n == 0
  return make(d, negative)
end

local function from_string(s)
  local sign, body = s:match("^([+-]?)(%d+)$")
  assert(body, "not a number: " .. s)
  local d = {}
  for i = #body, 1, -BASE_DIGITS do
    d[#d + 1] = tonumber(body:sub(math.max(1, i - BASE_DIGITS + 1), i))
  end
  return make(d, sign == "-")
end

local function big(x)
  if getmetatable(x) == Big then return x end
  if type(x) == "string" then return from_string(x) end
  return from_integer(x)
end

local function compare_digits(a, b)
  if #a ~= #b then return #a < #b and -1 or 1 end
  for i = #a, 1, -1 do
    if a[i] ~= b[i] then return a[i] < b[i] and -1 or 1 end
  end
  return 0
end

local function add_digits(a, b)
  local sum, carry = {}, 0
  for i = 1, math.max(#a, #b) do
    local s = (a[i] or 0) + (b[i] or 0) + carry
    if s >= BASE then
      sum[i], carry = s - BASE, 1
    else
      sum[i], carry = s, 0
    end
  end
  if carry > 0 then sum[#sum + 1] = carry end
  return sum
end

-- a must not be less than b.
local function sub_digits(a, b)
  local difference, borrow = {}, 0
  for i = 1, #a do
    local s = a[i] - (b[i] or 0) - borrow
    borrow = 0
    if s < 0 then
      s = s + BASE
      borrow = 1
    end
    difference[i] = s
  end
  return difference
end

local function mul_digits(a, b)
  local product = {}
  for i = 1, #a + #b do product[i] = 0 end
  for i = 1, #a do
    local x, carry = a[i], 0
    if x ~= 0 then
      for j = 1, #b do
        local t = product[i + j - 1] + x * b[j] + carry
        carry = div(t, BASE)
        product[i + j - 1] = t - carry * BASE
      end
      product[i + #b] = carry
    end
  end
  return product
end

local function divmod_small(a, n)
  local quotient, rest = {}, 0
  for i = #a, 1, -1 do
    local t = rest * BASE + a[i]
    quotient[i] = div(t, n)
    rest = t % n
  end
  return quotient, rest
end

local function scale_digits(a, n)
  local product, carry = {}, 0
  for i = 1, #a do
    local t = a[i] * n + carry
    carry = div(t, BASE)
    product[i] = t % BASE
  end
  product[#a + 1] = carry
  return product
end

-- Long division as on paper, with the divisor made large first so that two digits guess well.
local function divmod_digits(a, b)
  if compare_digits(a, b) < 0 then return { 0 }, a end
  if #b == 1 then
    local q, r = divmod_small(a, b[1])
    return q, { r }
  end
  local factor = div(BASE, b[#b] + 1)
  local u, v = scale_digits(a, factor), trim(scale_digits(b, factor))
  local n, quotient = #v, {}
  for j = #u - n, 1, -1 do
    local two = u[j + n] * BASE + u[j + n - 1]
    local guess = div(two, v[n])
    local rest = two - guess * v[n]
    while guess >= BASE or guess * v[n - 1] > rest * BASE + u[j + n - 2] do
      guess = guess - 1
      rest = rest + v[n]
      if rest >= BASE then break end
    end
    local borrow = 0
    for i = 1, n do
      local t = u[j + i - 1] - guess * v[i] - borrow
      borrow = -div(t, BASE)
      u[j + i - 1] = t % BASE
    end
    u[j + n] = u[j + n] - borrow
    if u[j + n] < 0 then
      guess = guess - 1
      local carry = 0
      for i = 1, n do
        local t = u[j + i - 1] + v[i] + carry
        carry = t >= BASE and 1 or 0
        u[j + i - 1] = t - carry * BASE
      end
      u[j + n] = u[j + n] + carry
    end
    quotient[j] = guess
  end
  local rest = divmod_small(trim(u), factor)
  return quotient, trim(rest)
end

function Big.__add(a, b)
  a, b = big(a), big(b)
  if a.negative == b.negative then return make(add_digits(a.digits, b.digits), a.negative) end
  if compare_digits(a.digits, b.digits) >= 0 then
    return make(sub_digits(a.digits, b.digits), a.negative)
  end
  return make(sub_digits(b.digits, a.digits), b.negative)
end

function Big.__unm(a)
  return make({ unpack(a.digits) }, not a.negative)
end

function Big.__sub(a, b)
  return big(a) + -big(b)
end

function Big.__mul(a, b)
  a, b = big(a), big(b)
  return make(mul_digits(a.digits, b.digits), a.negative ~= b.negative)
end

-- Truncates towards zero; the rest has the sign of the dividend.
function Big:divmod(b)
  b = big(b)
  local q, r = divmod_digits(self.digits, b.digits)
  return make(q, self.negative ~= b.negative), make({ unpack(r) }, self.negative)
end

function Big.__div(a, b)
  return (big(a):divmod(b))
end

function Big.__mod(a, b)
  local _, r = big(a):divmod(b)
  return r
end

function Big.__pow(a, n)
  local result = big(1)
  while n > 0 do
    if n % 2 == 1 then result = result * a end
    n = div(n, 2)
    if n > 0 then a = a * a end
  end
  return result
end

function Big.__eq(a, b)
  return a.negative == b.negative and compare_digits(a.digits, b.digits) == 0
end

function Big.__lt(a, b)
  a, b = big(a), big(b)
  if a.negative ~= b.negative then return a.negative end
  local c = compare_digits(a.digits, b.digits)
  if a.negative then return c > 0 end
  return c < 0
end

function Big:__tostring()
  local d = self.digits
  local parts = { self.negative and "-" or "", string.format("%d", d[#d]) }
  for i = #d - 1, 1, -1 do parts[#parts + 1] = string.format("%07d", d[i]) end
  return table.concat(parts)
end

function Big:powmod(exponent, modulus)
  local result, base = big(1), self % modulus
  while exponent > big(0) do
    local half, bit = exponent:divmod(2)
    if bit == big(1) then result = result * base % modulus end
    base = base * base % modulus
    exponent = half
  end
  return result
end

local function digit_sum(s)
  local sum = 0
  for c in s:gmatch("%d") do sum = sum + tonumber(c) end
  return sum
end

local function show(title, value)
  local s = tostring(value)
  local short = #s > 24 and s:sub(1, 12) .. ".." .. s:sub(-10) or s
  print(string.format("%-12s %5d digits, sum %6d, %s", title, #s, digit_sum(s), short))
end

-- Factorials, each shown number checked by dividing it down again.
local factorial = big(1)
for i = 1, 1200 do
  factorial = factorial * i
  if i == 25 or i == 300 or i == 1200 then show(i .. "!", factorial) end
end
local down = factorial
for i = 1200, 2, -1 do down = down / i end
show("and back", down)

show("3^9001", big(3) ^ 9001)
show("-7^1001", -(big(7) ^ 1001))

local a, b = big(0), big(1)
for _ = 1, 3000 do a, b = b, a + b end
show("fib 3000", a)

-- Long division of numbers of many lengths: q * d + r must give the dividend again.
local seed, wrong, total = 12345, 0, big(0)
local function random_digits(n)
  local t = {}
  for i = 1, n do
    seed = (seed * 16807) % 2147483647
    t[i] = string.format("%d", seed % 10)
  end
  return from_string((seed % 3 == 0 and "-1" or "7") .. table.concat(t))
end
for round = 1, 5000 do
  local x, y = random_digits(20 + round % 180), random_digits(10 + round % 77)
  local q, r = x:divmod(y)
  if q * y + r ~= x then wrong = wrong + 1 end
  if q < r then total = total + r else total = total - q end
end
show("divisions", total)
print("wrong divisions", wrong)

-- Fermat's test on Mersenne numbers.
local primes = {}
for _, p in ipairs { 13, 17, 19, 23, 29, 31, 37, 41, 61, 67, 89, 101, 107, 127 } do
  local m = big(2) ^ p - 1
  if big(3):powmod(m - 1, m) == big(1) then primes[#primes + 1] = p end
end
print("Mersenne", table.concat(primes, " "))

-- Pi by Machin's formula.
local function arccot(x, unity)
  local power = unity / x
  local sum, n, sign = power, 3, -1
  while big(0) < power do
    power = power / (x * x)
    local term = power / n
    sum = sign > 0 and sum + term or sum - term
    sign = -sign
    n = n + 2
  end
  return sum
end
local unity = big(10) ^ 1010
show("pi", (arccot(5, unity) * 4 - arccot(239, unity)) * 4 / (big(10) ^ 10))
