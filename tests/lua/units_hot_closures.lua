-- Closures that run long enough to be compiled: counters and accumulators in hot loops, callbacks that write
-- variables of the loop's function, closures made at each iteration, iterators, and what changes them late.
local function counter(step)
  local n = 0
  return function() n = n + step return n end, function(v) n = v end
end
local up, set = counter(1)
local s = 0
for i = 1, 6000 do
  s = s + up()
  if i == 4000 then set(0.5) end
  if i % 1500 == 0 then print(i, s, up()) end
end
set("9")
print(up(), up())
set({})
print(pcall(up))
set(0)
print(up())

local function each(t, f) for i = 1, #t do f(t[i], i) end end
local t = {}
for i = 1, 300 do t[i] = i * 7 % 101 end
local sum, most, at = 0, -1, 0
for round = 1, 20 do
  each(t, function(x, i)
    sum = sum + x
    if x > most then most, at = x, i end
  end)
  if round == 10 then t[150] = 1000.5 end
  if round == 15 then t[200] = "12" t[150] = 3 end
  if round == 15 then most = 0 end
  if round % 5 == 0 then
    t[200] = 7
    print(round, sum, most, at)
  end
end
print(pcall(each, { 1, 2, {} }, function(x) sum = sum + x end))
print(sum)

-- A closure for each iteration, called at once; and one that is called in the next iteration.
local function made(n)
  local total, before = 0, nil
  for i = 1, n do
    local x = i
    local add = function(d) x = x + d total = total + x end
    add(1)
    add(i % 1000 == 0 and 0.5 or 2)
    if before and i % 2 == 0 then before(3) end
    before = add
  end
  return total
end
for _, n in ipairs { 10, 1500, 2500 } do print(n, made(n)) end

-- Iterators as closures, with state that changes its type.
local function range(from, to, step)
  local i = from - step
  return function()
    i = i + step
    if i <= to then return i end
  end
end
for _, step in ipairs { 1, 3, 0.5, 2 } do
  local r, n = 0, 0
  for i in range(1, 1500, step) do r, n = r + i, n + 1 end
  print(step, n, r)
end
local function filter(f, next_value)
  return function()
    while true do
      local x = next_value()
      if x == nil or f(x) then return x end
    end
  end
end
local function map(f, next_value)
  return function()
    local x = next_value()
    if x ~= nil then return f(x) end
  end
end
local r, n, limit = 0, 0, 7
local filtered = filter(function(x) return x % limit < 3 end, range(1, 4000, 1))
for x in map(function(x) n = n + 1 return x * limit end, filtered) do
  r = r + x
  if n == 1000 then limit = 5 elseif n == 1200 then limit = 2.5 end
end
print(r, n, limit)

-- Compositions that call through several closures, of which one is replaced in the end.
local function compose(f, g) return function(...) return f(g(...)) end end
local bias = 1
local function shift(x) return x + bias end
local function double(x) return x * 2 end
local f = compose(compose(shift, double), compose(double, shift))
s = 0
for i = 1, 3000 do
  s = (s + f(i)) % 1000003
  if i == 2000 then bias = 0.5 elseif i == 2500 then shift = nil bias = -1 end
end
print(s, f(1), f(0.25))
-- Shared variables of two closures that call each other.
local function pair()
  local a, b = 0, 1
  local other
  local function one(n) a = a + b if n > 0 then return other(n - 1) end return a end
  function other(n) b = b % 1000 + 1 if n > 0 then return one(n - 1) end return b end
  return one, other, function() return a, b end
end
local one, other, both = pair()
for i = 1, 300 do
  one(i % 12)
  if i % 60 == 0 then print(i, other(i % 7), both()) end
end
