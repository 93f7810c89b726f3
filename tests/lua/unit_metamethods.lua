-- Metamethods that are called in the middle of a recursion, and that recurse themselves: __index and
-- __newindex functions, arithmetic, comparison, length, call, concatenation.
local steps = 0
local mt = {}
mt.__index = function(t, k) steps = steps + 1 return k * 2 end
mt.__newindex = function(t, k, v) steps = steps + 10 rawset(t, k, v) end
local function value(x) return type(x) == "table" and x.v or x end
mt.__add = function(a, b) steps = steps + 100 return value(a) + value(b) end
mt.__lt = function(a, b) return value(a) < value(b) end
mt.__le = function(a, b) return value(a) <= value(b) end
mt.__eq = function(a, b) return a.v == b.v end
mt.__len = function(t) return t.v end
mt.__call = function(t, n) return n + t.v end
mt.__unm = function(t) return -t.v end
local function new(v) return setmetatable({ v = v }, mt) end
local three = new(3)
local function mixed(n, o)
  if n == 0 then return 0 end
  local r = mixed(n - 1, o)
  if n % 7 == 0 then return r + o[n] elseif n % 7 == 1 then return r + #o elseif n % 7 == 2 then return o + r
  elseif n % 7 == 3 then return r + o(n) elseif n % 7 == 4 then o[n] = n return r
  elseif n % 7 == 5 then return o == three and r + 1 or r - 1 else return n < o and r or r - o.v end
end
for i = 1, 25 do print(i, mixed(i, new(i)), mixed(i, { v = 1 } and three), steps) end

-- The operation is the recursion.
local peano = {}
local function number(n) return setmetatable({ n = n }, peano) end
peano.__add = function(a, b) if b.n == 0 then return a end return number(a.n + 1) + number(b.n - 1) end
peano.__mul = function(a, b) if b.n == 0 then return number(0) end return a + a * number(b.n - 1) end
peano.__lt = function(a, b)
  if b.n == 0 then return false end
  return a.n == 0 or number(a.n - 1) < number(b.n - 1)
end
peano.__eq = function(a, b) return a.n == b.n end
for i = 0, 8 do
  local x, y = number(i), number(7 - i % 5)
  print((x + y).n, (x * y).n, x < y, y < x, x == y, x == number(i))
end
local fib = setmetatable({}, { __index = function(t, n)
  local v = n < 2 and n or t[n - 1] + t[n - 2]
  if n % 3 == 0 then rawset(t, n, v) end
  return v
end })
for i = 1, 24, 3 do io.write(fib[i], " ") end
print()
local self_call = setmetatable({}, { __call = function(f, n)
  if n == 0 then return 0 end
  return f(n - 1) + n
end })
for i = 1, 30 do io.write(self_call(i), i % 10 == 0 and "\n" or " ") end
local inherited = { value = 7 }
for i = 1, 9 do inherited = setmetatable({ ["k" .. i] = i }, { __index = inherited }) end
local function read(n, t) if n == 0 then return t.value end return read(n - 1, t) + (t["k" .. n] or 0) end
for i = 1, 12 do io.write(read(i, inherited), " ") end
print()
