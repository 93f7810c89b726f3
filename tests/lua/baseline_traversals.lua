-- Steps of 'next' from node to node: a loop's instruction remembers where the last key lay, and what it
-- remembers may be of another table, of a traversal that is over, or of nodes that have moved.

local function sum(t)
   local keys, values = 0, 0
   for k, v in pairs(t) do
      keys = keys + (math.type(k) == "integer" and k or #tostring(k))
      values = values + v
   end
   return keys, values
end

local small, large = { a = 1, b = 2, c = 3 }, {}
for i = 1, 60 do large["key" .. i] = i end
local mixed = { 10, 20, nil, 40, x = 5, y = 6, [100] = 7, [-1] = 8 }
for round = 1, 30 do
   local a, b = sum(small)
   local c, d = sum(large)
   local e, f = sum(mixed)
   local g, h = sum({})
   local i, j = sum({ 1, 2, 3 })
   if round % 10 == 0 then print(a, b, c, d, e, f, g, h, i, j) end
end

-- Keys of all types; what 'next' gives is the same.
local function order(t)
   local seen, key, value = {}, nil, nil
   for k, v in pairs(t) do
      key, value = next(t, key)
      seen[#seen + 1] = rawequal(k, key) and v == value
   end
   assert(next(t, key) == nil)
   for _, is_same in ipairs(seen) do assert(is_same) end
   return #seen
end
local object, thread = {}, coroutine.create(print)
local all = { [true] = 1, [false] = 2, [1.5] = 3, [-0.5] = 4, [object] = 5, [print] = 6, [thread] = 7,
              [string.rep("long", 20)] = 8, short = 9, [math.huge] = 10, [math.mininteger] = 11, [2^53] = 12 }
for _ = 1, 30 do assert(order(all) == 12) end

-- A traversal within one of the same table, by the same instruction; and left by a break.
local function nested(t, depth)
   local count = 0
   for _, v in pairs(t) do
      count = count + v
      if depth > 0 then count = count + nested(t, depth - 1) end
      if depth == 2 and v == 2 then break end
   end
   return count
end
for _ = 1, 20 do nested(small, 1) end
print(nested({ a = 1 }, 3), nested({ 1, 1, 1 }, 2))

-- Fields are cleared while they are visited, and assigned; the collector runs.
local function clear(t, collects)
   local count = 0
   for k in pairs(t) do
      t[k] = nil
      count = count + 1
      if collects and count % 7 == 0 then collectgarbage() end
   end
   assert(next(t) == nil)
   return count
end
local total = 0
for round = 1, 40 do
   local t = {}
   for i = 1, 20 do t[round .. ":" .. i] = i end
   for i = 1, 5 do t[i] = i end
   t[{}] = 1
   total = total + clear(t, round % 4 == 0)
end
print(total)

-- All fields are assigned by a traversal within the traversal: it goes on.
local function assign(t, at)
   local count = 0
   for k in pairs(t) do
      count = count + 1
      if count == at then
         for name in pairs(t) do t[name] = count end
      end
   end
   return count
end
for round = 1, 20 do assert(assign({ a = 1, b = 2, c = 3, d = 4 }, round % 5) == 4) end

-- The nodes are others in the midst of it, without the last key: that is an error.
local function vanish(t)
   for k in pairs(t) do
      for name in pairs(t) do t[name] = nil end
      for i = 1, 40 do t["other" .. i] = i end
   end
end
for _ = 1, 20 do
   local ok, message = pcall(vanish, { a = 1, b = 2, c = 3 })
   assert(not ok and message:find("invalid key to 'next'"), message)
end

-- The iterator with other tables and controls.
local function from(t, control)
   local count = 0
   for k, v in next, t, control do count = count + v end
   return count
end
local list = { 1, 2, 3, 4, 5 }
for round = 1, 30 do
   assert(from(list, nil) == 15 and from(list, 3) == 9 and from(list, 5) == 0)
   assert(from({ x = 1 }, "x") == 0)
   assert(not pcall(from, list, 6) and not pcall(from, list, "x") and not pcall(from, {}, 1.5))
   assert(not pcall(from, list, 2.0))
end

-- __pairs, and a table that is not one.
local proxy = setmetatable({}, { __pairs = function(t) return next, { a = 1, b = 2 }, nil end })
for _ = 1, 20 do assert(select(2, sum(proxy)) == 3) end
print(pcall(sum, 5))

-- Items one after the other: to the array, to the nodes, with __newindex, with nil, beyond a gap.
local function fill(t, n)
   for i = 1, n do t[i] = i end
   return #t
end
local shown = {}
for round = 1, 30 do
   local writes = 0
   local function write(t, k, v)
      writes = writes + 1
      rawset(t, k, v)
   end
   local watched = setmetatable({}, { __newindex = write })
   local a = fill({}, round)
   local b = fill({ x = 1 }, round)
   local c = fill(watched, round)
   local d = fill({ nil, nil, 3 }, round)
   local e = fill(setmetatable({}, { __index = function() return 1 end }), round)
   assert(a == round and b == round and c == round and writes == round and e == round)
   shown[#shown + 1] = d
   local t = { 1, 2 }
   t[#t + 1] = nil
   t[#t + 2] = 4
   t[#t + 1] = 3
   shown[#shown] = d .. "/" .. #t
end
print(table.concat(shown, " "))
local sealed = setmetatable({}, { __newindex = function(_, k) error("sealed at " .. k, 2) end })
for _ = 1, 20 do
   local ok, message = pcall(fill, sealed, 3)
   assert(not ok)
   shown[1] = message
end
print(shown[1])
