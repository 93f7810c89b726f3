-- Tail calls of and by functions with '...': all arguments handed on, some of them dropped or added, results
-- of another call as the arguments, and continuations that are called with what was found.
local function pass(f, ...) return f(...) end
local function twice(f, ...) return pass(f, ...) end
local function first(a) return a end
local function count(...) return select("#", ...) end
local function middle(_, ...) return ... end
local function add(a, b, ...) if b == nil then return a end return add(a + b, ...) end
local sum = 0
for i = 1, 300 do
  sum = sum + pass(first, i, i) + twice(count, i, nil, nil) + (pass(middle, 1, i) or 0)
  sum = sum + twice(add, i, 1, 0.5, i) + pass(pass, pass, pass, first, i)
end
print(sum, pass(count), twice(middle, 1), twice(middle), pass(count, nil))

local function rotate(n, a, ...)
  if n == 0 then return a, ... end
  if select("#", ...) == 0 then return rotate(n - 1, n, a) end
  return rotate(n - 1, ...)
end
for n = 0, 40, 4 do print(n, rotate(n, 1, 2, 3, 4, 5)) end
local function grow(n, ...)
  if n == 0 then return select("#", ...), (select(-1, ...)) end
  return grow(n - 1, n, ...)
end
for n = 1, 60, 9 do print(n, grow(n)) end
print(grow(200))

-- The arguments are all results of another call, or of the same function.
local function pair(n) return n, n + 0.5 end
local function many(n) if n == 0 then return end return n, many(n - 1) end
local function collect(...)
  local t = { ... }
  return #t, t[1], t[#t]
end
local function through(n) return collect(many(n)) end
local function mixed(n) return collect(0, pair(n)) end
local function parens(n) return collect((pair(n))) end
for i = 1, 60 do
  local a, b, c = through(i % 12)
  local d, e, f = mixed(i)
  local g, h = parens(i)
  if i % 12 == 0 or i == 7 then print(i, a, b, c, d, e, f, g, h) end
end

-- Two functions that call each other in turn, one with '...' and one with parameters.
local fixed
local function open(n, ...)
  if n <= 0 then return "open", ... end
  if n % 5 == 0 then return fixed(n - 1, select(2, ...)) end
  return fixed(n - 1, ..., n)
end
function fixed(n, a, b, c)
  if n <= 0 then return "fixed", a, b, c end
  if n % 7 == 0 then return open(n - 1) end
  return open(n - 1, c, a, b)
end
for n = 0, 600, 43 do print(n, open(n, 1, 2), fixed(n, "a", nil, 3)) end

-- Continuations: what is left to do is in the arguments.
local function run(k, ...) if k then return k(...) end return ... end
local function plus(k, a, b) return run(k, a + b) end
local function cps(n, k)
  if n < 2 then return run(k, n) end
  return cps(n - 1, function(a) return cps(n - 2, function(b) return plus(k, a, b) end) end)
end
for n = 0, 15, 3 do print(n, cps(n)) end
print(pcall(pass))
print(pcall(twice, add, 1, {}))
