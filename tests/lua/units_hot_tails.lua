-- Tail calls that run long enough to be compiled: loops made of them, with one, two and three functions, with
-- types and targets that change late, with a table of states, and with errors at the end.
local function loop(i, n, s) if i > n then return s end return loop(i + 1, n, s + i) end
print(loop(1, 8000, 0), loop(1, 100, 0.5), loop(0.5, 4000, 0))
print(pcall(loop, 1, 2000, "x"))
print(loop(1, 3000, "10"))

local even
local function odd(n, s) if n == 0 then return false, s end return even(n - 1, s + 1) end
function even(n, s) if n == 0 then return true, s end return odd(n - 1, s) end
print(even(7000, 0), odd(6001, 0.5))
print(even(301.0, 0), pcall(even, -0.5 + 1000.5, nil))

local states = {}
function states.low(x, n)
  if n == 0 then return x, "low" end
  return states[x > 40 and "high" or "low"](x * 5 % 101, n - 1)
end
function states.high(x, n)
  if n == 0 then return x, "high" end
  return states[x < 60 and "low" or "middle"](x - 7, n - 1)
end
function states.middle(x, n)
  if n == 0 then return x, "middle" end
  if x % 2 == 0 then return states.high(x // 2 + 30, n - 1) end
  return states.low(x + 1, n - 1)
end
for n = 0, 5000, 1250 do print(n, states.low(5, n), states.high(77.5, n)) end
local plain = states.middle
function states.middle(x, n) return plain(x, n) end
print(states.low(5, 3000))
states.middle = nil
print(pcall(states.low, 5, 3000))

-- Arguments that turn round, one of which becomes a float, text or table in the end.
local function turn(n, a, b, c)
  if n == 0 then return a, b, c end
  if n == 10 then return turn(n - 1, b, c, "10") end
  if n == 3 then return turn(n - 1, b, c, "text") end
  if n == 1 then return turn(n - 1, c, a, {}) end
  return turn(n - 1, b, c, a + 1)
end
for n = 11, 4011, 1000 do
  local a, b, c = turn(n, 1, 2, 3.5)
  print(n, a, b, type(c))
end
print(pcall(turn, 12, 1, {}, 3))

-- A loop inside of each function; the tail call goes out of the loop.
local search
local function block(t, from, want)
  for i = from, from + 9 do
    local x = t[i]
    if x == nil then return nil, i end
    if x == want then return i, x end
  end
  return search(t, from + 10, want)
end
function search(t, from, want)
  local steps = from
  while steps % 4 ~= 1 do
    if t[steps] == want then return steps, t[steps] end
    steps = steps + 1
  end
  return block(t, steps, want)
end
local t = {}
for i = 1, 1500 do t[i] = i * 7919 % 1511 + (i % 500 == 0 and 0.5 or 0) end
for _, want in ipairs { 7, 1000, 1510, t[1400], t[1000], -1 } do print(want, search(t, 1, want)) end

-- A trampoline in place of tail calls, and tail calls through a dispatcher.
local function trampoline(f, ...)
  local a, b, c = f, ...
  while type(a) == "function" do a, b, c = a(b, c) end
  return a, b
end
local bounce_b
local function bounce_a(n, s) if n == 0 then return "a", s end return bounce_b, n - 1, s + n % 3 end
function bounce_b(n, s) if n == 0 then return "b", s end return bounce_a, n - 1, s * 2 % 10007 end
print(trampoline(bounce_a, 5000, 1), trampoline(bounce_b, 5001, 0.5))
local depth = 0
local function dispatch(f, n, ...)
  depth = depth + 1
  if n == 0 then return f(...) end
  return dispatch(f, n - 1, n, ...)
end
local function count(...) return select("#", ...), (...) end
for n = 0, 150, 50 do print(n, dispatch(count, n), depth) end
