-- Tables that grow: sizes show in the order of 'next' and in borders, so both are printed after each way to
-- fill a table. What grows here is what tlua_grow.c knows, and what lies just outside of it.

-- The order of 'next' depends on the hashes of strings, which are others in each run, but in tests.
local is_same = os.getenv("TRACELIFT_SAME_HASHES") == "1"

local function order(t)
  local keys = {}
  for k, v in next, t do keys[#keys + 1] = tostring(k) .. "=" .. tostring(v) end
  if not is_same then table.sort(keys) end
  return #keys .. ": " .. table.concat(keys, " ")
end

local seed = 7
local function random(n)
  seed = seed * 16807 % 2147483647
  return seed % n + 1
end

-- arrays, from nothing and from constructors of all small sizes
local made = { {}, { 1 }, { 1, 2 }, { 1, 2, 3 }, { 1, 2, 3, 4 }, { 1, 2, 3, 4, 5 }, { 1, 2, 3, 4, 5, 6, 7 } }
for n, t in ipairs(made) do
  for i = #t + 1, 20 do
    t[i] = i
    if i % 3 == 0 then t[#t + 1] = -i; t[#t] = nil end
  end
  print(n, #t, order(t))
end

-- arrays with gaps, with a key beyond the end, with float keys, filled from the end
for gap = 1, 9 do
  local t = {}
  for i = 1, 9 do t[i] = i end
  t[gap] = nil
  for i = 10, 17 do t[i] = i end
  t[19] = 19
  t[18.0] = 18
  print(gap, #t, order(t))
  local back = {}
  for i = 9, gap, -1 do back[i] = i end
  print(gap, order(back))
end

-- strings: a table of each size, with strings of many hashes, and removals in between
for size = 1, 40 do
  local t = {}
  for i = 1, size do
    t["k" .. random(1000)] = i
    if i % 5 == 0 then t["k" .. random(1000)] = nil end
  end
  if size % 4 == 0 then print(size, order(t)) end
end

-- all keys are gone; then others come
local emptied = { a = 1, b = 2, c = 3, d = 4 }
for k in pairs(emptied) do emptied[k] = nil end
emptied.e, emptied.f, emptied.g, emptied.h, emptied.i = 5, 6, 7, 8, 9
print(order(emptied))

-- kinds of keys side by side, arrays with a hash part
for n = 1, 12 do
  local t = { n = 0 }
  for i = 1, n do
    t[#t + 1] = i
    t["s" .. i] = i
    if i % 2 == 0 then t[i / 4] = i; t[-i] = i; t[i % 4 == 0] = i end
  end
  print(n, #t, order(t))
end

-- nothing is inserted for nil, and errors leave the table as it was
local t = { x = 1 }
t.y = nil
print(order(t), pcall(function() t[nil] = 1 end), pcall(function() t[0 / 0] = 1 end), order(t))

-- weak tables, and collections between insertions
local weak = setmetatable({}, { __mode = "k" })
local kept = {}
for i = 1, 30 do
  weak["w" .. i] = {}
  kept[i] = {}
  weak[kept[i]] = i
  if i % 10 == 0 then collectgarbage() end
end
local count = 0
for _ in pairs(weak) do count = count + 1 end
print(count)

-- a metatable's cache of absent fields
local mt = {}
local object = setmetatable({}, mt)
print(pcall(function() return object() end))
mt.__name = "object"
mt.__index = function(_, k) return k .. "?" end
print(object.field)
mt.__call = function() return "called" end
print(object())

-- in hot loops
local sum = 0
for i = 1, 3000 do
  local point = {}
  point.x, point.y, point.z = i, i + 1, i + 2
  local list = {}
  for j = 1, i % 9 do list[j] = j end
  list[#list + 1] = point.z
  sum = sum + point.x + #list + list[#list]
end
print(sum)
