-- Functions that call one another: two, three, in a table, with other types now and then, and with a part
-- that calls itself.
local is_even, is_odd
function is_even(n) if n == 0 then return true end return (is_odd(n - 1)) end
function is_odd(n) if n == 0 then return false end return (is_even(n - 1)) end
local a, b, c
local trail = 0
function a(n, x) if n <= 0 then return x end trail = trail + 1 return b(n - 1, x + 1) + 1 end
function b(n, x) if n <= 0 then return x end trail = trail + 10 return c(n - 2, x * 2) - 1 end
function c(n, x) if n <= 0 then return x end trail = trail + 100 return a(n - 1, x - 3) + 2 end
for i = 0, 30 do
  print(i, is_even(i), is_odd(i), a(i, 1), b(i, 1.5), c(i, i), trail)
end

-- Hofstadter's sequences.
local f, m
function f(n) if n == 0 then return 1 end return n - m(f(n - 1)) end
function m(n) if n == 0 then return 0 end return n - f(m(n - 1)) end
for n = 0, 16 do io.write(f(n), "/", m(n), " ") end
print()

-- One calls itself, and the other now and then.
local inner, outer
function inner(n) if n < 2 then return n end return inner(n - 1) + inner(n - 2) end
function outer(n) if n <= 0 then return 0 end return inner(n % 7) + outer(n - 1) end
for n = 5, 60, 11 do io.write(outer(n), " ") end
print()
local both = {}
function both.x(n, t) if n < 1 then return #t end t[#t + 1] = n return both.y(n - 1, t) end
function both.y(n, t) if n < 1 then return -#t end local r = both.x(n - 1, t) t[#t] = nil return r end
for n = 1, 25 do io.write(both.x(n, {}), " ", both.y(n, { 1, 2 }), "; ") end
print()
