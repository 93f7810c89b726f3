-- What a loop has loaded from a table is no longer true when the same table has grown under another name.
local function shape(t)
  local keys = {}
  for i = 1, #t do keys[i] = tostring(t[i]) end
  return table.concat(keys, " ")
end

-- the array moves, as others lie behind it
local a, other = { 1 }, {}
local b = a
for i = 1, 30 do
  local first = a[1]
  b[#b + 1] = i
  other[#other + 1] = first
  a[1] = first + 1
end
print(shape(a)); print(shape(other))

-- the length is another one
local c = { 0 }
local d = c
local lengths = 0
for i = 1, 30 do
  local before = #c
  d[#d + 1] = before
  lengths = lengths + #c * 100 + before
end
print(lengths, shape(c))

-- the key is new, and later one that is there, with another value and type
local e = { 1 }
local f = e
local places = { 2, 3, 5, 9, 17, 1, 1, 4, 1, 2, 33, 1, 6, 7, 1, 8, 65, 1, 1, 10, 11, 2, 1 }
local sum = 0
for turn = 1, 2 do
  for i = 1, #places do
    local seen = e[1]
    f[places[i]] = seen + i
    sum = sum * 3 % 1000003 + e[1] + (e[1] - seen)
  end
end
print(sum, shape(e))
local g = { 1 }
local h = g
for i = 1, 20 do
  local seen = g[1]
  h[i % 10 == 9 and 1 or i + 1] = i % 10 == 9 and i + 0.5 or i
  if g[1] ~= seen then io.write(tostring(seen), ">", tostring(g[1]), " ") end
  g[1] = g[1] + 1
end
print(shape(g))

-- fields: the nodes move; a name that comes from a variable is the field
local p = { x = 0 }
local q = p
local names = {}
for i = 1, 40 do names[i] = i % 9 == 8 and "x" or "n" .. i end
sum = 0
for i = 1, 40 do
  local x = p.x
  q[names[i]] = x + i
  sum = sum * 3 % 1000003 + p.x - x
  p.x = p.x + 1
end
print(sum, p.x, p.n40, p.n1, p.x)
local r = { x = 1 }
local s = r
for i = 1, 30 do
  local x = r.x
  s[i + 0.5] = x
  r.x = x + (s[i + 0.5] or 1000)
  if i > 20 then r.x = r.x % 97 end
end
print(r.x, r[1.5], r[30.5])

-- as many nodes as before, elsewhere: what is taken away makes room, when the table is built anew
local m = { x = 0 }
local n = m
local gone, reals = {}, {}
for i = 1, 60 do
  names[i] = i % 9 == 8 and "x" or "n" .. i
  gone[i] = i % 9 ~= 0 and "n" .. i - 1 or "none"
  reals[i] = i % 7 == 6 and 0.5 or i + 0.25
end
sum = 0
for i = 1, 60 do
  local x = m.x
  n[names[i]] = x + i
  sum = sum * 3 % 1000003 + m.x - x
  m.x = m.x + 1
  n[gone[i]] = nil
end
print(sum, m.x, m.n60, m.n59)
local v = { [0.5] = 1 }
local w = v
sum = 0
for i = 1, 60 do
  local x = v[0.5]
  w[reals[i]] = x + i
  sum = sum * 3 % 1000003 + v[0.5] - x
  v[0.5] = v[0.5] + 1
  if reals[i] ~= 0.5 then w[reals[i]] = nil end
end
print(sum, v[0.5], next(v, 0.5))

-- absent before, present behind
local found, absent = 0, 0
local t = {}
local u = t
for i = 1, 30 do
  local k = "k" .. i
  if t[k] == nil then absent = absent + 1 end
  u[k] = i
  if t[k] == i then found = found + 1 end
  if t.k12 then found = found + 100 end
  if t[i] == nil then absent = absent + 1 end
  u[i] = i
  if t[i] == i then found = found + 1 end
end
print(found, absent, #t)

-- a metatable gets a metamethod by a name from a variable, between two uses of what it lacked
local events = {}
for i = 1, 30 do events[i] = i == 21 and "__index" or "event" .. i end
local meta = {}
local object = setmetatable({}, meta)
local answers = 0
for i = 1, 30 do
  if object[i] == nil then answers = answers + 1 end
  meta[events[i]] = function(_, k) return k * 1000 end
  local answer = object[i]
  if answer ~= nil then answers = answers + answer end
end
print(answers)
local meta2 = {}
local object2 = setmetatable({}, meta2)
local instead = {}
for i = 1, 30 do
  object2[i] = i
  meta2[i == 21 and "__newindex" or "event" .. i] = instead
  object2[-i] = i
end
print(#object2, object2[-20], object2[-21], instead[-21], instead[22], object2[22])

-- objects of the loop's own, known to nobody yet, in a table that grows under two names
local list = {}
local same = list
for i = 1, 30 do
  local o = { v = i }
  list[#list + 1] = o
  local n = { v = -i, o = o }
  same[#same + 1] = n
  o.v = o.v + list[#list].o.v
end
print(#list, list[1].v, list[2].v, list[2].o.v, list[59].v, list[60].o == list[59])
