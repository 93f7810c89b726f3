-- functions that read and change tables, called as they are between other accesses to the same tables
local N = 80
local function show(t) return #t .. ":" .. table.concat(t, " ") end

-- rawset: old keys, new keys, tables that grow, with metatables, values that go
local t = {}
for i = 1, 200 do rawset(t, i, i * i) end
print(show(t))
local words = setmetatable({}, { __newindex = error })
for i = 1, N do
  rawset(words, "k" .. i % 10, i)
  rawset(words, i % 3 + 0.5, i)
  rawset(words, i % 2 == 0, i)
end
print(words.k0, words.k9, words[0.5], words[2.5], words[true], words[false])
local x = { v = 0, w = 0 }
for i = 1, N do
  x.v = x.v + 1
  rawset(x, "v", x.v + 1)
  x.w = x.w + x.v
  if rawset(x, "u", i) ~= x then error("other table") end
end
print(x.v, x.w, x.u)
for i = 1, N do
  rawset(x, "gone", i)
  local old = x.gone
  rawset(x, "gone", nil)
  x.w = x.w + old + (x.gone == nil and 1 or 0)
end
print(x.w, x.gone)
local made  -- of this iteration
for i = 1, N do
  local fresh = { a = i }
  rawset(fresh, "b", fresh.a + 1)
  fresh.c = fresh.b + 1
  if i % 20 == 0 then made = fresh end
end
print(made.a, made.b, made.c)

-- a metatable gets a metamethod by rawset: who caches that there is none must notice
local mt = {}
local o = setmetatable({}, mt)
local seen = 0
for i = 1, N do
  if i == 50 then rawset(mt, "__index", function() return 5 end) end
  seen = seen + (o.nothing or 1)
end
print(seen)

-- insert and remove at positions
local l = { 5, 3, 1 }
local u = 0
for i = 1, N do
  table.insert(l, 1, i)
  table.insert(l, 3, -i)
  u = u + l[2] * l[3]
  table.insert(l, #l + 1, 0)
  u = u + table.remove(l, 2) + table.remove(l, 1) + table.remove(l, #l)
end
print(u, show(l))
local q = {}
for i = 1, N do table.insert(q, 1, i) end
print(show(q))
for i = 1, N - 5 do u = u + table.remove(q, 1) end
print(u, show(q))
for i = 1, N do u = u + (table.remove(q, 1) or 7) end
print(u, show(q))
local texts = {}
for i = 1, N do
  table.insert(texts, 1, "t" .. i)
  table.insert(texts, 2, {})
  local gone = table.remove(texts, 2)
  if #gone ~= 0 or texts[1] ~= "t" .. i then error("lost") end
end
print(#texts, texts[1], texts[N])

-- sort
local last
for i = 1, N do
  last = { 5, i % 9, 2.5, 8, i % 4, 9, 3 }
  table.sort(last)
  u = u + last[1] + last[7]
end
print(u, show(last))
for i = 1, N do
  last = { "b", "z" .. i, "aa", "c" .. i % 7 }
  table.sort(last)
end
print(show(last))
for i = 1, N do
  last = { i % 5, 3, 4, 1 }
  table.sort(last, function(a, b) return a > b end)
end
print(show(last))
for i = 1, 40 do  -- not a number
  last = { 3, 0 / 0, 1, i }
  local ok = pcall(table.sort, last)
  u = u + #last
end
print(u)

-- move, pack, unpack, concat
local from, to = { 1, 2, 3, 4, 5 }, { 9, 9, 9, 9, 9, 9 }
for i = 1, N do
  from[i % 5 + 1] = i
  if table.move(from, 2, 4, 1) ~= from or table.move(from, 1, 3, i % 3 + 1, to) ~= to then error("other table") end
  u = u + from[1] + to[2]
end
print(u, show(from), show(to))
for i = 1, N do
  local p = table.pack(i, nil, "x", i / 2)
  u = u + p.n + p[1] + p[4] + #p[3]
  local a, b, c = table.unpack(from, 2, 4)
  u = u + a + b + c + select("#", table.unpack({ 1, 2, nil, 4 }, 1, 4))
end
print(u)
local parts = { "a", 1, 2.5, "" }
for i = 1, N do
  parts[4] = i
  last = table.concat(parts, i % 2 == 0 and ", " or ";", 2) .. table.concat(parts) .. table.concat({}, "x") .. table.concat(parts, "-", 3, 4)
end
print(last)
local view = setmetatable({}, { __index = function(_, k) return k * 2 end, __len = function() return 3 end })
for i = 1, N do last = table.concat(view, ",") u = u + table.unpack(view, 2, 2) end
print(last, u)
-- '#' between changes
local grow = {}
for i = 1, N do
  table.insert(grow, i)
  if i % 3 == 0 then table.insert(grow, 1, 0) end
  if i % 4 == 0 then table.remove(grow, 1) end
  u = u + #grow + grow[#grow]
end
print(u, show(grow))
