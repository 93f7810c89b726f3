-- The stack moves while frames of loops and functions lie in it: recursion to depths that double, from loops
-- with captured variables, varargs and open results; what they hold must not move away.
local function deep(n) if n == 0 then return 0 end return 1 + deep(n - 1) end
local function around(n, ...)
  local a, b = ...
  local count = select("#", ...)
  local f = function() a = a + 1 return a end
  local t = { a, deep(n), f(), ... }
  b = f() + (b or 0)
  return a, b, count, #t, t[2], t[#t]
end
local n = 4
for round = 1, 11 do
  print(n, around(n, 1), around(n, 1, 2, 3))
  n = n * 2
end

-- Open results lie on the stack while the next argument is computed by deep recursion.
local function values(k) if k == 0 then return end return k, values(k - 1) end
local function gather(...) return select("#", ...), (...), (select(-1, ...)) end
local function nested(n, k)
  return gather(deep(n), n, deep(n // 2), values(k))
end
for n = 1, 3000, 599 do print(n, nested(n, 3), nested(n, 200)) end

-- A loop whose body goes deeper each time; its limit, step and variables are on the stack.
local function loop(limit, step)
  local sum, x = 0, 0.5
  local add = function(v) sum = sum + v + x end
  for i = 1, limit, step do
    add(deep(i * 40 % 3001))
    x = x + i
    for k, v in pairs { 5, 6 } do
      add(k * v)
      if i % 7 == 0 then add(deep(i * 10)) end
    end
  end
  return sum, x
end
for step = 1, 4 do print(step, loop(60, step)) end

-- Concatenations and comparisons through metamethods that go deep.
local mt = {}
mt.__concat = function(a, b)
  local n = type(a) == "table" and a.n or b.n
  return deep(n) .. (type(a) == "table" and "L" or "R")
end
mt.__lt = function(a, b) return deep(a.n) < deep(b.n) end
mt.__eq = function(a, b) return deep(a.n) == deep(b.n) end
mt.__index = function(t, k) return deep(k) end
mt.__newindex = function(t, k, v) rawset(t, k, v + deep(k)) end
local function object(n) return setmetatable({ n = n }, mt) end
for n = 100, 2500, 600 do
  local a, b, c = object(n), object(n // 2), object(n)
  print(n, "x" .. 1 .. a .. "y", a .. b, a < b, b < a, a == c, a ~= b, a[n // 3])
  b[n + 1] = 0.5
  print(rawget(b, n + 1), ("z" .. a) < ("z" .. b))
end

-- Each coroutine's stack grows by itself, from the smallest.
local sums = {}
for i = 1, 12 do
  local co = coroutine.wrap(function(k, ...)
    local kept = { ... }
    local x = 0
    local f = function() x = x + 1 end
    for j = 1, 3 do
      f()
      k = coroutine.yield(deep(k) + x, select("#", ...), kept[#kept])
    end
    return x
  end)
  local a, b, c = co(i * 150, values(i))
  local d = co(i * 300)
  sums[#sums + 1] = a + b + c + d + co(3) + co()
end
print(table.concat(sums, " "))
