-- Table constructors with calls, varargs, holes, nested ones, and keys that repeat, in hot loops.
local function three(i) return i, i + 1, i + 2 end
local function none() end
local total, lengths = 0, 0
for i = 1, 100 do
  local t = { three(i), three(i) }
  lengths = lengths + #t
  total = total + t[1] + t[4]
  local u = { (three(i)), n = i, [1] = "x", three(i) }
  total = total + u[1] + u[2] + u.n
  local v = { none(), none() }
  if v[1] ~= nil then total = total + 1e6 end
  local w = { none(), k = none(), three(i) }
  if w[1] ~= nil or w.k ~= nil then total = total + 1e6 end
  total = total + w[4]
end
print(total, lengths)
local function pack(...) return { n = select("#", ...), ... } end
local counts = 0
for i = 1, 60 do
  local p = i % 3 == 0 and pack() or i % 3 == 1 and pack(nil) or pack(i, nil, i)
  counts = counts + p.n
  if p.n == 3 then counts = counts + p[1] + p[3] end
end
print(counts)
local deep
for i = 1, 60 do
  deep = { i, { i + 1, { i + 2, deep = deep and deep[2][2][1] } }, name = "n" .. i }
end
print(deep[1], deep[2][1], deep[2][2][1], deep[2][2].deep, deep.name)
local order = {}
local function note(v) order[#order + 1] = v; return v end
for i = 1, 55 do
  local t = { note(1), a = note(2), note(3), [note("k")] = note(4) }
  if i == 55 then print(t[1], t.a, t[2], t.k) end
end
print(#order, table.concat(order, "", 1, 10))
local last
for i = 1, 60 do last = { x = i, x = i + 1, [1] = "a", "b", [i] = i } end
print(last.x, last[1], last[60])
local sums = 0
for i = 1, 60 do
  local big = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
    26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, i, three(i) }
  sums = sums + #big + big[52] + big[55]
end
print(sums)
