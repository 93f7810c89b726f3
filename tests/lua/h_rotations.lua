-- Objects that go through several places, one in each iteration, before they are dropped: records, objects with
-- methods, arrays; two places and more; with conditions, in calls, and where they are seen after all.
local out = {}
local function show(...)
  local words = { ... }
  for i, word in ipairs(words) do words[i] = tostring(word) end
  out[#out + 1] = table.concat(words, " ")
end

for n = 0, 9 do
  local a, b = { v = 0 }, { v = 1 }
  for i = 1, n do a, b = b, { v = (a.v + b.v) % 1000007 } end
  show("records", n, a.v, b.v)
end
do
  local a, b = { v = 0 }, { v = 1 }
  for i = 1, 3000 do a, b = b, { v = (a.v + b.v) % 1000007 } end
  show("records", a.v, b.v)
end

local Fib = {}
Fib.__index = Fib
function Fib.new(v) return setmetatable({ v = v }, Fib) end
function Fib:add(other) return Fib.new((self.v + other.v) % 1000007) end
local function methods(n)
  local a, b, i = Fib.new(0), Fib.new(1), 0
  while i < n do
    local c = a:add(b)
    a = b
    b = c
    i = i + 1
  end
  return a.v, b.v, getmetatable(a) == Fib
end
for n = 0, 5 do show("methods", n, methods(n)) end
show("methods", methods(2500))

-- Three and four places; four fields that are read in different places; floats.
local function three(n)
  local d, e, f = { x = 1, y = 2 }, { x = 3, y = 5 }, { x = 7, y = 11 }
  for i = 1, n do
    d, e, f = e, f, { x = (d.x + e.y) % 1009, y = (f.x + d.y + i) % 1013 }
  end
  return d.x, d.y, e.x, e.y, f.x, f.y
end
local function four(n)
  local a, b, c, d = { 1.5, "a" }, { 2.5, "b" }, { 3.5, "c" }, { 4.5, "d" }
  for i = 1, n do
    a, b, c, d = b, c, d, { a[1] * .5 + d[1] * .25, a[2] }
  end
  return a[1], b[1], c[1], d[1], a[2] .. b[2] .. c[2] .. d[2]
end
for _, n in ipairs { 0, 1, 2, 3, 4, 5, 40, 41, 900 } do
  show("three", n, three(n))
  show("four", n, four(n))
end

-- The same object in both places at first, and identity that is looked at.
local function same(n)
  local first = { v = 1 }
  local a, b, equal = first, first, 0
  for i = 1, n do
    if a == b then equal = equal + 1 end
    if a == first then equal = equal + 100 end
    a, b = b, { v = a.v + i }
  end
  return equal, a.v, b.v
end
for _, n in ipairs { 1, 2, 3, 200, 2000 } do show("same", n, same(n)) end

-- Seen after all: now and then, in each iteration, or by another variable.
local function seen(n, every)
  local kept, a, b = {}, { v = 0 }, { v = 1 }
  for i = 1, n do
    a, b = b, { v = (a.v * 3 + b.v) % 10007 }
    if i % every == 0 then kept[#kept + 1] = a end
  end
  kept[#kept + 1] = b
  local s, different = 0, 0
  for i, k in ipairs(kept) do
    s = (s * 7 + k.v) % 1000003
    if kept[i + 1] ~= k then different = different + 1 end
  end
  return #kept, s, different
end
for _, every in ipairs { 1, 2, 7, 100, 999, 5000 } do show("seen", every, seen(3000, every)) end

-- Changed after it has moved on, and read through the other place.
local function changed(n)
  local a, b = { v = 1, w = 0 }, { v = 2, w = 0 }
  for i = 1, n do
    a.w = a.w + i
    b.v = (b.v * 5 + a.w) % 100003
    a, b = b, { v = a.v, w = b.w + 1 }
  end
  return a.v, a.w, b.v, b.w
end
-- One holds the one before; what it held before that is dropped.
local function held(n)
  local p = { older = { v = 1 }, newer = { v = 2 } }
  for i = 1, n do
    p = { older = p.newer, newer = { v = (p.older.v + p.newer.v * i) % 65537 } }
  end
  return p.older.v, p.newer.v
end
-- Lists grow: no preamble is long enough.
local function list(n)
  local head
  for i = 1, n do head = { v = i, next = head } end
  local s, count = 0, 0
  while head do
    s, count = (s * 31 + head.v) % 1000003, count + 1
    head = head.next
  end
  return s, count
end
for _, n in ipairs { 0, 1, 2, 3, 4, 300, 2001 } do
  show("changed", n, changed(n))
  show("held", n, held(n))
  show("list", n, list(n))
end

-- Two ways through the loop, one of which hands on what it has.
local function ways(n, m)
  local a, b = { v = 3 }, { v = 4 }
  for i = 1, n do
    if i % m == 0 then
      a, b = b, a
    else
      a, b = b, { v = (a.v + b.v + i) % 30011 }
    end
  end
  return a.v, b.v
end
for _, m in ipairs { 2, 3, 50, 4000 } do show("ways", m, ways(3000, m)) end

-- With an array beside them, whose index is tested once before the loop, up to its end and beyond it.
local function array(n, last)
  local t = {}
  for i = 1, n do t[i] = i * i % 97 end
  local a, b = { v = 0 }, { v = 1 }
  for i = 1, last do
    local x = t[i]
    if not x then x = -1 end
    a, b = b, { v = (a.v + x) % 100003 }
  end
  return a.v, b.v
end
for _, last in ipairs { 1, 2, 3, 499, 500, 501, 503 } do show("array", last, array(500, last)) end

-- The loop is left in the middle of an iteration, from the first on, by an error too.
local function left(n, bad)
  local a, b = { v = 1 }, { v = 1 }
  local ok, err = pcall(function()
    for i = 1, n do
      a, b = b, { v = (a.v + b.v) % 4099 }
      if i == bad then error({ v = a.v + b.v }) end
    end
  end)
  return ok, ok and 0 or err.v, a.v, b.v
end
for _, bad in ipairs { 1, 2, 3, 60, 61, 0 } do show("left", bad, left(400, bad)) end

-- A string becomes a number: the types of fields change on the way.
local function types(n)
  local a, b = { v = "1" }, { v = 2 }
  for i = 1, n do a, b = b, { v = i == 150 and 0.5 or a.v + b.v % 7 } end
  return a.v, b.v
end
for _, n in ipairs { 1, 2, 3, 149, 150, 151, 152, 153, 400 } do show("types", n, types(n)) end
print(table.concat(out, "\n"))
