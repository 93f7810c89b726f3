-- Keys that are no fields and no items: integers outside the array part, floats, booleans, objects; there or
-- not, in the table or in those that its metatables name.

local function count(t, keys, rounds)
  local found, sum = 0, 0
  for _ = 1, rounds do
    for i = 1, #keys do
      local v = t[keys[i]]
      if v ~= nil then found = found + 1 sum = sum + v end
    end
  end
  return found, sum
end

local object, other = {}, {}
local f = function() end
local co = coroutine.create(f)
local keys = { 1, 2, 3, 100, -1, 0, 1 << 40, math.mininteger, math.maxinteger, 1.5, -0.0, 2.0, 1e300,
  math.huge, true, false, object, other, f, co, print, "short", ("long"):rep(20), ("long"):rep(21) }

local t = {}
print(count(t, keys, 30))
for i = 1, #keys, 2 do t[keys[i]] = i end
print(count(t, keys, 30))
local base = {}
for i = 2, #keys, 4 do base[keys[i]] = 1000 * i end
local u = setmetatable({}, { __index = setmetatable({}, { __index = base }) })
print(count(u, keys, 30))
for i = 1, #keys, 3 do u[keys[i]] = i end
print(count(u, keys, 30))
local v = setmetatable({}, { __index = function(_, k) return type(k) == "number" and 7 or nil end })
print(count(v, keys, 30))
local w = setmetatable({ 1, nil, 3 }, { __index = { 10, 20, 30, 40 }, __newindex = base })
print(count(w, keys, 30))

-- The length's hint is taken along by reads.
local function hints(n)
  local a = {}
  for i = 1, n do a[i] = i end
  local out = {}
  for i = n, 1, -1 do
    if i % 5 == 0 then a[i] = nil end
    out[#out + 1] = #a
    local _ = a[i] or a[i - 1] or a[n + i]
    out[#out + 1] = #a
  end
  return table.concat(out, " ")
end
for n = 1, 40 do print(n, hints(n)) end

-- Sets of objects and sparse integers.
local nodes = {}
for i = 1, 60 do nodes[i] = { id = i } end
local function walk(step)
  local seen, order, n = {}, {}, 1
  while not seen[nodes[n]] do
    seen[nodes[n]] = true
    order[#order + 1] = n
    n = (n + step - 1) % #nodes + 1
  end
  local sparse, hits = {}, 0
  for i = 1, 60 do
    if not sparse[i * 1000] then sparse[i * step * 1000 % 7000] = i else hits = hits + 1 end
  end
  return #order, hits
end
for step = 1, 30 do print(step, walk(step)) end

-- Constant integer keys: a table without them, with a few, and one that inherits them.
local function constants(x) return x[1], x[2], x[200], x[0] end
local inherits = setmetatable({}, { __index = { 5, 6, [200] = 7, [0] = 8 } })
for i = 1, 60 do
  local a, b, c, d = constants(i % 3 == 0 and {} or i % 3 == 1 and { 1, nil, [200] = 3 } or inherits)
  if i > 55 then print(a, b, c, d) end
end

-- Errors name the variable.
local function bad(x, k) return x[k] end
for _ = 1, 30 do bad({}, nil) bad({}, 0 / 0) end
print(pcall(bad, nil, 1))
print(pcall(bad, 5, true))
print(pcall(function(x) x[nil] = 1 end, {}))
print(pcall(function(x) x[0 / 0] = 1 end, {}))
