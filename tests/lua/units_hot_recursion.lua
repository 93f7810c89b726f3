-- Recursive functions that run long enough to be compiled by themselves: one, two and three calls in a body,
-- with types, depths and results that change only after many calls, and with writes to a shared table.
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
print(fib(20), fib(18), fib(16.0))
print(pcall(fib, "x"))
print(fib(12), fib(11.5))

local calls = 0
local function three(n)
  calls = calls + 1
  if n <= 0 then return 1 end
  return three(n - 1) + three(n - 2) * 2 - three(n - 3)
end
print(three(12), calls, three(11.0), calls)
local unit = 1
local function count(n)
  if n == 0 then return unit end
  return count(n - 1) + unit
end
for round = 1, 60 do
  local r = count(100)
  if round == 30 then unit = 0.5 elseif round == 45 then unit = "2" elseif round == 55 then unit = 1 end
  if round % 10 == 0 then print(round, r) end
end

local tree, made = nil, 0
local function insert(t, k)
  if t == nil then
    made = made + 1
    return { k = k, n = 1 }
  end
  if k < t.k then t.l = insert(t.l, k) elseif k > t.k then t.r = insert(t.r, k) else t.n = t.n + 1 end
  return t
end
local function height(t)
  if not t then return 0 end
  local l, r = height(t.l), height(t.r)
  return (l > r and l or r) + 1
end
local function total(t)
  if not t then return 0, 0 end
  local s1, n1 = total(t.l)
  local s2, n2 = total(t.r)
  return s1 + s2 + t.k * t.n, n1 + n2 + t.n
end
local x = 1
for i = 1, 1500 do
  x = x * 16807 % 2147483647
  tree = insert(tree, x % 400 + (i % 100 == 0 and 0.5 or 0))
  if i % 300 == 0 then print(i, made, height(tree), total(tree)) end
end

local function visit(t, f, depth)
  if t == nil then return depth end
  local a = visit(t.l, f, depth + 1)
  f(t, depth)
  local b = visit(t.r, f, depth + 1)
  return a < b and a or b
end
local sum, deepest, least = 0, 0, nil
for round = 1, 8 do
  least = visit(tree, function(t, d)
    sum = (sum + t.k * d) % 100003
    if d > deepest then deepest = d end
    if round == 6 then t.k = t.k + 0.25 end
  end, 1)
  print(round, sum, deepest, least)
end

-- Thousands of calls with an error at the end of some of them.
local function checked(n, bad)
  if n == bad then error("bad " .. n, 0) end
  if n == 0 then return 0 end
  local r = checked(n - 1, bad)
  return r + n
end
local good, failed, text = 0, 0, nil
for i = 1, 400 do
  local ok, v = pcall(checked, 20, i % 40 == 0 and i // 40 or -1)
  if ok then good = good + v else failed, text = failed + 1, v end
end
print(good, failed, text)

-- A loop in the function that calls itself, hot in both ways.
local function spread(n, w)
  local s = w
  for i = 1, n do
    if n > 2 then s = s + spread(n - 2, i) else s = s + i * 0.5 end
    if s > 1e6 then return s end
  end
  return s
end
for n = 1, 9, 2 do print(n, spread(n, 1), spread(n, 0.25)) end
