-- Recursion of all kinds from compiled loops: straight, mutual, with loops at each level, deeper than code
-- nests.
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local function ack(m, n)
  if m == 0 then return n + 1 end
  if n == 0 then return ack(m - 1, 1) end
  return ack(m - 1, ack(m, n - 1))
end
local even, odd
function even(n) if n == 0 then return true end return odd(n - 1) end
function odd(n) if n == 0 then return false end local r = even(n - 1) return r end
local moves
local function hanoi(n, a, b, c)
  if n == 0 then return end
  hanoi(n - 1, a, c, b)
  moves = moves + 1
  hanoi(n - 1, c, b, a)
end
local s = 0
for i = 1, 14 do
  moves = 0
  hanoi(i % 8, "a", "b", "c")
  s = s + fib(i) + ack(2, i % 5) + (even(i) and 1 or 0) + (odd(i * 20) and 1000 or 0) + moves
end
print(s)
-- A loop at each level, left at different iterations; closures and results of all levels.
local function levels(n, stop)
  local got, up = 0, n
  local function add(x) got = got + x up = up - 1 end
  for i = 1, 3 do
    add(i)
    if i == stop and n > 0 then
      local a, b = levels(n - 1, n % 3 + 1)
      add(a)
      got = (got + b) % 10007
    end
  end
  return got % 1009, up
end
for _, n in ipairs { 1, 5, 50, 159, 160, 161, 162, 170, 330, 500, 900 } do
  local a, b = levels(n, 2)
  local ok, c, d = pcall(levels, n, 1)
  print(n, a, b, ok, c, d)
end
local function unwind(n, at)
  local s = 0
  for i = 1, 3 do
    s = s + i
    if i == 2 and n > 0 then s = s + unwind(n - 1, at) end
    if n == at then error("at " .. s, 0) end
  end
  return s % 1000
end
for _, n in ipairs { 3, 30, 170, 340, 600 } do
  print(n, pcall(unwind, n, n // 2))
  print(n, pcall(unwind, n, -1))
  print(n, coroutine.wrap(function() return pcall(unwind, n, 1) end)())
end
-- Yields at the bottom of a deep recursion through loops; each level goes on afterwards.
local function dive(n)
  local s = 0
  for i = 1, 3 do
    if i == 2 then s = s + (n == 0 and coroutine.yield(i) or dive(n - 1)) end
    s = (s * 3 + i) % 10007
  end
  return s
end
for _, n in ipairs { 2, 20, 150, 400 } do
  for round = 1, 3 do
    local co = coroutine.wrap(dive)
    local first = co(n)
    print(n, round, first, co(round * 11))
  end
end
