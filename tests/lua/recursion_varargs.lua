-- Recursion with arguments that are missing, too many, or variable: sums over '...', select from both ends,
-- tables of arguments with holes, functions that pass more or fewer arguments at each depth.
local function sum(x, ...)
  if x == nil then return 0 end
  return x + sum(...)
end
local function reverse(x, ...)
  if select("#", ...) == 0 then return x end
  local function append(a, ...) if select("#", ...) == 0 then return a, x end return a, append(...) end
  return append(reverse(...))
end
local function last(n, ...)
  if n == 1 then return (...) end
  return last(n - 1, select(2, ...))
end
local function from_end(...)
  local n = select("#", ...)
  if n == 0 then return "" end
  return select(-1, ...) .. from_end(table.unpack({ ... }, 1, n - 1))
end
for n = 1, 20 do
  local t = {}
  for i = 1, n do t[i] = i % 5 == 0 and i / 2 or i end
  local s = sum(table.unpack(t))
  if n % 4 == 0 then print(n, s, last(n, table.unpack(t)), from_end(table.unpack(t))) end
end
print(reverse(1, "b", 3.5, false, "e"))
print(reverse(reverse(1, 2, 3)))

-- Holes and nil at the end are counted.
local function holes(n, ...)
  if n == 0 then
    local t = table.pack(...)
    local count = 0
    for i = 1, t.n do if t[i] == nil then count = count + 1 end end
    return t.n, count
  end
  if n % 3 == 0 then return holes(n - 1, nil, ...) end
  if n % 3 == 1 then return holes(n - 1, n, ...) end
  local a, b = ...
  return holes(n - 1, a, b, nil, select(3, ...))
end
for n = 0, 24, 3 do print(n, holes(n), holes(n, nil, 1, nil)) end

-- The number of arguments changes with the depth; parameters that nobody gave are nil.
local function ragged(n, a, b, c)
  if n == 0 then return tostring(a) .. tostring(b) .. tostring(c) end
  local k = n % 4
  if k == 0 then return ragged(n - 1) end
  if k == 1 then return ragged(n - 1, a or n) end
  if k == 2 then return ragged(n - 1, b, a, n, "extra", "more") end
  local r = ragged(n - 1, c, a)
  return r .. k
end
for n = 0, 40, 5 do print(n, ragged(n, 1, 2, 3), ragged(n), ragged(n, nil, "x")) end

-- A function with '...' and fixed parameters, called by itself through another one.
local apply
local function f(n, x, ...)
  if n == 0 then return x, select("#", ...) end
  local y = ...
  return apply(f, n - 1, y or x, x, ...)
end
function apply(g, n, ...)
  if n % 2 == 0 then return g(n, ...) end
  local a, b = g(n, select(1, ...))
  return a, b
end
for n = 0, 30, 3 do print(n, f(n, n), f(n, 1, 2), f(n, 1, nil, 3)) end

-- Binary recursion over parts of an argument list.
local function fold(op, n, ...)
  if n == 1 then return (...) end
  local half = n // 2
  local left = fold(op, half, ...)
  local right = fold(op, n - half, select(half + 1, ...))
  return op(left, right)
end
local function minus(a, b) return a - b end
local function join(a, b) return a .. b end
local function larger(a, b) if a < b then return b end return a end
for n = 1, 16 do
  local t = {}
  for i = 1, n do t[i] = (i * 7) % 17 * (i % 6 == 0 and 0.5 or 1) end
  print(n, fold(minus, n, table.unpack(t)), fold(larger, n, table.unpack(t)), fold(join, n, table.unpack(t)))
end
print(pcall(fold, minus, 3, 1, 2))
print(pcall(string.rep))
