-- New keys of all types where the table has no place for them; who asks for them before and behind, and who must not.
local function count(t)
  local n, order = 0, {}
  for k, v in pairs(t) do
    n = n + 1
    if n <= 12 and type(k) ~= "table" and type(k) ~= "function" then order[#order + 1] = tostring(k) end
  end
  return n .. ": " .. table.concat(order, " ")
end

local names, objects, numbers, both = {}, {}, {}, {}
local keys = {}
for i = 1, 40 do keys[i] = { i } end
for i = 1, 40 do
  names["name" .. i % 33] = i
  objects[keys[i]] = i * 0.5
  objects[keys[41 - i]] = keys[i]
  numbers[i + 0.5] = i
  numbers[i * 2.0] = -i
  both[i % 2 == 0] = i
  both[("long key "):rep(6) .. i] = true
end
local sum, present = 0, 0
for i = 1, 40 do
  if type(objects[keys[i]]) == "number" then sum = sum + objects[keys[i]] else present = present + 1 end
end
print(sum, present, both[true], both[false], numbers[7.5], numbers[8], numbers[80], #numbers)
print(#count(objects) > 0, count(numbers))
local in_order = {}
for k in pairs(names) do in_order[#in_order + 1] = k end
table.sort(in_order)
print(#in_order, in_order[1], in_order[33])

-- fields of fresh tables, one by one; seen under two names
local last
for i = 1, 30 do
  local p = {}
  local q = p
  p.a = i
  q.b = p.a + 1
  p.c = q.b * 0.5
  q.d = "d" .. i
  p.e = last
  if i % 7 == 0 then p.a = nil; p.f = true end
  last = q
  last.e = nil
end
print(last.a, last.b, last.c, last.d, last.e, last.f)

-- no number, no key; errors with their line
for _, bad in ipairs { 0 / 0, false } do
  local t = {}
  print(pcall(function()
    for i = 1, 20 do
      local k = i + 0.5
      if i == 17 then if bad then k = bad else k = nil end end
      t[k] = i
    end
  end))
  print(t[16.5], t[18.5])
end

-- __newindex comes later, goes, and is in a table that was seen before
local log = {}
local meta = {}
local watched = setmetatable({}, meta)
for i = 1, 60 do
  if i == 20 then meta.__newindex = function(t, k, v) log[#log + 1] = k; rawset(t, k, -v) end end
  if i == 40 then meta.__newindex = nil end
  watched[i] = i
  watched["s" .. i] = i
end
print(#watched, watched[19], watched[20], watched[39], watched[40], watched.s30, watched.s50, #log)
local target = {}
for i = 1, 40 do
  local t = setmetatable({}, i > 25 and { __newindex = target } or nil)
  t[1] = i; t.x = i
  if rawget(t, 1) then target[0] = i end
end
print(target[0], target[1], target.x)

-- a metatable grows: what it was known to lack is asked for again
local class = { __index = function(_, k) return k end }
local object, found = setmetatable({}, class), 0
for i = 1, 40 do
  local ok = pcall(function() return #object + (object + 1) end)
  if ok then found = found + 1 end
  class["field" .. i] = i
  if i == 30 then class.__add = function() return 1 end end
  found = found + (object[i] == i and 1 or 0)
end
print(found)

-- during a traversal that has ended for these keys
local seen = {}
for round = 1, 10 do
  for k, v in pairs(seen) do seen[k] = v + 1 end
  for i = 1, round * 2 do seen["r" .. round .. "_" .. i] = round end
end
local total = 0
for _, v in pairs(seen) do total = total + v end
print(total)

-- nil for what is not there
local none = {}
for i = 1, 30 do none[i] = nil; none["x" .. i] = nil; none[i + 0.5] = nil; none.y = nil end
print(next(none))
