-- Keys that are known only when they are used: strings in variables, integers outside the array part, floats, booleans, objects.
local words = {}
for w in ("the quick brown fox jumps over the lazy dog and the cat"):gmatch("%a+") do words[#words + 1] = w end

local count = {}
for _, w in ipairs(words) do count[w] = 0 end
for i = 1, 300 do
  local w = words[i % #words + 1]
  count[w] = count[w] + 1
end
local names = {}
for w, n in pairs(count) do names[#names + 1] = w .. "=" .. n end
table.sort(names)
print(table.concat(names, " "))

-- New keys, from a table that grows.
local seen, fresh = {}, 0
for i = 1, 300 do
  local k = words[i % #words + 1]
  if seen[k] == nil then seen[k] = i; fresh = fresh + 1 end
end
print(fresh, seen.fox, seen.cat)

-- Integers: sparse, zero, negative, and floats that stand for integers.
local sparse = {}
for i = -100, 100 do sparse[i * 1000] = i end
local sum = 0
for i = -100, 100 do sum = sum + sparse[i * 1000] + (sparse[i * 1000.0] or 0) end
print(sum, sparse[0], sparse[-5000])
local lacking = 0
for i = 1, 300 do if sparse[i] == nil then lacking = lacking + 1 end end
print(lacking)
for i = -100, 100 do sparse[i * 1000] = nil end
print(next(sparse))

-- The key moves from the hash part to the array part.
local moving = { [3] = "c" }
local found = {}
for i = 1, 200 do
  if i == 100 then moving[1] = "a"; moving[2] = "b"; moving[4] = "d"; moving[5] = "e"; moving[6] = "f" end
  found[i] = moving[3]
end
print(found[1], found[99], found[100], found[200])

-- Floats, booleans, tables, functions as keys.
local odd = { [0.5] = 1, [true] = 2, [false] = 3, [print] = 4 }
local t1, t2 = {}, {}
odd[t1] = 10; odd[t2] = 20
local s = 0
for i = 1, 300 do
  local k = i % 2 == 0 and t1 or t2
  s = s + odd[k] + odd[i % 3 == 0] + odd[0.5]
  odd[k] = odd[k] + 1
end
print(s, odd[t1], odd[t2])

-- A float key that becomes one that stands for an integer.
local halves = {}
for i = 1, 10 do halves[i / 2] = i end
s = 0
for i = 1, 300 do s = s + halves[(i % 10 + 1) / 2] end
print(s)

-- Order of strings.
local least, most = words[1], words[1]
for i = 1, 300 do
  local w = words[i % #words + 1]
  if w < least then least = w end
  if w >= most then most = w end
end
print(least, most)

-- Methods, through a chain of metatables and on strings.
local base = { kind = "base" }
base.__index = base
function base:area() return self.w * self.h end
local derived = setmetatable({}, base)
derived.__index = derived
function derived:grow(n) self.w = self.w + n; return self end
local shapes = {}
for i = 1, 10 do shapes[i] = setmetatable({ w = i, h = 2 }, derived) end
s = 0
for i = 1, 300 do
  local shape = shapes[i % 10 + 1]
  s = s + shape:grow(1):area()
  if shape.missing ~= nil or shape.kind ~= "base" then print("wrong") end
  if i == 250 then function base:area() return 1 end end
end
print(s)

-- Values of several types under keys that change.
local mixed = { a = 1, b = 2.5, c = "x", d = false }
local order = { "a", "b", "c", "d", "e" }
local kinds = {}
for i = 1, 300 do
  local v = mixed[order[i % 5 + 1]]
  kinds[i % 5 + 1] = tostring(v)
end
print(table.concat(kinds, " "))

-- The barrier: old tables get young values under changing keys.
local store = {}
for _, w in ipairs(words) do store[w] = false end
for i = 1, 2000 do
  store[words[i % #words + 1]] = { i }
  if i % 500 == 0 then collectgarbage() end
end
s = 0
for _, v in pairs(store) do s = s + v[1] end
print(s)
