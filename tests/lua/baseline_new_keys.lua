-- New keys in the hash part: their places, and so the order of 'next', are those that Lua's own function
-- gives them, whether the place is free, taken by a key that belongs there, or by one that does not.

local seed = 7
local function random(n)
   seed = (seed * 48271) % 2147483647
   return seed % n + 1
end

-- The order of the keys, in a number.
local function order(t)
   local sum, count = 0, 0
   for k, v in pairs(t) do
      count = count + 1
      local number = type(k) == "boolean" and (k and 77 or 78) or math.type(k) == "float" and k // 1 | 0 or k
      sum = (sum * 31 + number * 7 + v + count) % 1000000007
   end
   return sum, count
end

local keys = {
   function() return random(40) * 1000 end,
   function() return -random(60) end,
   function() return random(30) << random(40) end,
   function() return random(2) == 1 and random(500) + 100 or random(20) + 0.5 end,
   function() return random(6) == 1 and random(2) == 1 or random(9) * 64 end,
   function() return math.mininteger + random(50) end,
   function() return 2 ^ random(60) end,
}

local function fill(t, key, n)
   for i = 1, n do
      local k = key()
      if t[k] and random(3) == 1 then
         t[k] = nil
      else
         t[k] = i
      end
   end
   return t
end

local all = 0
for round = 1, 60 do
   for index, key in ipairs(keys) do
      local sum, count = order(fill({}, key, round))
      all = (all * 33 + sum + count * index) % 1000000007
   end
   local mixed = fill(fill({ 1, 2, 3 }, keys[1], round), keys[4], round)
   all = (all * 33 + order(fill(mixed, keys[2], 20))) % 1000000007
   if round % 20 == 0 then print(round, all) end
end

-- Objects as keys, and strings beside integers: nothing is lost, nothing is there twice.
local objects = {}
for i = 1, 50 do objects[i] = i % 3 == 0 and {} or i % 3 == 1 and function() return i end or "key" .. i end
for round = 1, 40 do
   local set, expected = {}, 0
   for i = 1, round do
      local o = objects[random(50)]
      if not set[o] then expected = expected + 1 end
      set[o] = i
      local n = random(30) * 100
      if not set[n] then expected = expected + 1 end
      set[n] = i
   end
   local found = 0
   for k, v in pairs(set) do
      assert(set[k] == v)
      found = found + 1
   end
   assert(found == expected)
end

-- A black table gets young keys.
local kept = {}
for round = 1, 200 do
   kept[{ round }] = { round }
   kept[round * 1000] = { round }
   if round % 50 == 0 then collectgarbage("step") end
end
collectgarbage()
local sum = 0
for k, v in pairs(kept) do sum = sum + v[1] + (type(k) == "table" and k[1] or k // 1000) end
print(sum)

-- With metamethods it is theirs to say.
local log = {}
local watched = setmetatable({}, { __newindex = function(t, k, v) log[#log + 1] = k rawset(t, k, v) end })
fill(watched, keys[2], 40)
print(#log > 0, (order(watched)))
