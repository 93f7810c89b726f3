-- Side traces that begin inside called functions, return from them, and make objects on the way.
local Point = {}
Point.__index = Point
function Point.new (x, y) return setmetatable({ x = x, y = y }, Point) end
function Point:larger () if self.x > self.y then return self.x else return self.y end end
function Point:swapped () return Point.new(self.y, self.x) end

local p, total = Point.new(1, 2), 0
for i = 1, 150 do
  total = total + p:larger()
  if i % 3 == 0 then p = p:swapped() elseif i % 3 == 1 then p = Point.new(p.x + 1, p.y) end
end
print(total, p.x, p.y)

-- Results of different number and type, by the path taken in the callee.
local function several (i)
  if i % 4 == 0 then return end
  if i % 4 == 1 then return i end
  if i % 4 == 2 then return i, "two" end
  return i, 3.5, nil
end
local n, text = 0, {}
for i = 1, 160 do
  local a, b, c = several(i)
  n = n + (a or 1) + select("#", several(i))
  if b == "two" then text[#text + 1] = a end
end
print(n, #text, text[#text])

-- Variable arguments, taken apart on two paths.
local function pick (which, ...)
  local a, b = ...
  if which then return a, select("#", ...) else return b, ... end
end
local picked = 0
for i = 1, 120 do
  local x, y = pick(i % 2 == 0, i, i + 1, nil)
  picked = picked + x * y
end
print(picked)

-- Tail calls and short recursion.
local function even (k) if k == 0 then return true end return k ~= 1 and even(k - 2) end
local evens = 0
for i = 0, 99 do if even(i % 5) then evens = evens + 1 end end
print(evens)

-- An upvalue that both paths write, and a counter in the closure's own loop.
local hits, misses = 0, 0
local function probe (t, k) if t[k] then hits = hits + 1 else misses = misses + 1 end return hits - misses end
local t, balance = { [2] = true, [3] = true, [5] = true, [7] = true }, 0
for i = 1, 140 do balance = balance + probe(t, i % 10) end
print(hits, misses, balance)

-- Operators in Lua on one of the paths.
local V = {}
V.__add = function (a, b) if a.n > 50 then return setmetatable({ n = b.n }, V) end return setmetatable({ n = a.n + b.n }, V) end
V.__lt = function (a, b) return a.n < b.n end
local acc, one, less = setmetatable({ n = 0 }, V), setmetatable({ n = 7 }, V), 0
for i = 1, 120 do
  acc = acc + one
  if one < acc then less = less + 1 end
end
print(acc.n, less)

-- Coroutines inside a nest, and an error that passes through a compiled caller.
local out = {}
for i = 1, 30 do
  local co = coroutine.wrap(function (a)
    for j = 1, 3 do a = a + (coroutine.yield(a * j) or 0) end
    return a
  end)
  local s = co(i)
  for j = 1, 3 do s = s + co(j) end
  out[#out + 1] = s
end
print(out[1], out[15], out[30])
local ok, message = pcall(function ()
  local r = 0
  for i = 1, 100 do
    for j = 1, 3 do r = r + several(i * 4 + j) * 2 end
    if i == 90 then r = r + several(4) end
  end
end)
print(ok, message)
