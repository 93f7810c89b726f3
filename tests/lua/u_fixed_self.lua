-- Local functions that know themselves, and those that are assigned later.
local function gcd(a, b) if b == 0 then return a end return gcd(b, a % b) end
local function fact(n) if n <= 1 then return 1 end return n * fact(n - 1) end
local s = 0
for i = 1, 1200 do s = s + gcd(i, 360) + fact(i % 10) end
print(s)
local even, odd
function even(n) if n == 0 then return true end return odd(n - 1) end
function odd(n) if n == 0 then return false end return even(n - 1) end
local evens = 0
for i = 1, 600 do if even(i % 20) then evens = evens + 1 end end
print(evens)
-- a function that replaces itself
local function first(x)
  if x == 700 then first = function (y) return -y end end
  return x
end
local r = 0
for i = 1, 1400 do r = r + first(i) end
print(r)
-- parameters and varargs
local function compose(f, g) return function (...) return f(g(...)) end end
local inc, dbl = function (x) return x + 1 end, function (x) return x * 2 end
local h = compose(inc, dbl)
local q = 0
for i = 1, 1200 do q = q + h(i) end
print(q)
h = compose(dbl, inc)
for i = 1, 1200 do q = q + h(i) end
print(q)
