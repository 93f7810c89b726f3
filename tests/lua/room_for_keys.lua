-- Constructors learn how many fields their tables get afterwards; what 'next' shows of keys that are no
-- strings must not change by it.

local function order(t)
  local keys = {}
  for k in pairs(t) do keys[#keys + 1] = tostring(k) end
  return table.concat(keys, " ")
end

local function fields(t)
  local names = {}
  for k, v in pairs(t) do names[#names + 1] = k .. "=" .. tostring(v) end
  table.sort(names)
  return table.concat(names, " ")
end

local Point = {}
Point.__index = Point

function Point.new(x, y)
  local self = setmetatable({}, Point)
  self.x = x
  self.y = y
  return self
end

local Solid = setmetatable({}, { __index = Point })
Solid.__index = Solid

function Solid.new(x, y, z)
  local self = setmetatable(Point.new(x, y), Solid)
  self.z = z
  return self
end

function Point:sum() return self.x + self.y + (self.z or 0) end

local total = 0
for i = 1, 400 do
  local p = i % 3 == 0 and Solid.new(i, 1, 2) or Point.new(i, 2)
  total = total + p:sum()
  if i % 97 == 0 then print(i, fields(p)) end
end
print(total)

-- One constructor, whose tables are filled by whoever asked for them.
local function make() return {} end
local function fill_names(t, n)
  t.first = n
  t.second = n + 1
  if n > 5 then t.third = n + 2 end
  return t
end
local function fill_integers(t, n)
  t[n] = 1; t[2 * n] = 2; t[n + 7] = 3; t[-n] = 4; t[3 * n + 1] = 5
  return t
end
local function fill_others(t, n)
  t[n + 0.5] = 1; t[true] = 2; t[false] = 3; t[n * 0.25 + 0.125] = 4; t[1e100] = 5
  return t
end
for round = 1, 3 do
  for i = 1, 60 do fill_names(make(), i) end
  print(fields(fill_names(make(), 9)))
  for n = 3, 40 do
    print(n, order(fill_integers(make(), n)))
    print(n, order(fill_others(make(), n)))
  end
end

-- Strings come first, other keys later; and borders of arrays with holes.
for n = 1, 40 do
  local t = fill_names(make(), n)
  for i = 1, n do t[i] = i end
  t[n + 2] = true
  t[false] = n
  local count = 0
  for _ in pairs(t) do count = count + 1 end
  print(n, count, t.first, t.second, t[n], t[false])
end
for n = 1, 40 do
  local t = make()
  t[2] = 2; t[4] = 4; t[n] = n; t[1] = 1
  print(n, #t, order(t))
end

-- Constructors that ask for room themselves.
local function pair(k, v) return { [k] = v } end
local function two(a, b) return { [a] = 1, [b] = 2 } end
local function named(n) return { name = n } end
for i = 1, 60 do
  pair("k" .. i % 3, i).more = i
  local t = two("a", "b")
  t.c, t.d = i, i
  local u = named(i)
  u.left, u.right, u.above = i, i, i
end
for n = 1, 60 do
  local t = pair(n, n)
  t[n + 3] = 1; t[n + 8] = 2
  local u = two(n, 2 * n + 1)
  u[n + 16] = 3; u[-n] = 4
  local v = named(n)
  v.left = n
  print(order(t), order(u), fields(v))
end

-- Fields that are taken away again, and tables that are used as sets.
for n = 1, 80 do
  local t = make()
  t.a = 1; t.b = 2; t.c = 3
  t.b = nil
  if n % 2 == 0 then t.a = nil; t.c = nil end
  t[n] = n; t[n + 4] = n; t[n + 8] = n
  local sum = 0
  for _, v in pairs(t) do sum = sum + v end
  print(n, sum, t.a, t[n + 4])
end

-- A list in the same register, and lists from calls.
local function list(...) return { ... } end
for i = 1, 60 do
  local t = list(i, i + 1, nil, i + 3)
  t.n = select("#", i, i + 1, nil, i + 3)
  t.more, t.last = i, i
  if i % 13 == 0 then print(#t, t.n, t[4], t.more) end
end

-- A function that is loaded anew each time, so that constructors come and go.
for i = 1, 30 do
  local f = load("local t = {} t.a = ... t.b = 2 t.c = 3 return t")
  local t
  for n = 1, 40 do t = f(n) end
  if i % 10 == 0 then collectgarbage() print(fields(t)) end
end
