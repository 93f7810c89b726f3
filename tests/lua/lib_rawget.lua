-- rawget asks no metatable, whatever kind the key is.
local asked = 0
local meta = { __index = function (t, k) asked = asked + 1; return -1 end }
local list = setmetatable({ 10, 20, 30, nil, 50, name = "n", [true] = "yes", [2.5] = "half", [1000] = "far" }, meta)
local object = {}
list[object] = "object"
list[print] = "function"

local sum, words = 0, 0
for i = 1, 200 do
  sum = sum + rawget(list, i % 3 + 1) + list[i % 3 + 1]
  words = words + #rawget(list, "name") + #rawget(list, true) + #rawget(list, object) + #rawget(list, 1000)
  if rawget(list, "other") == nil and rawget(list, false) == nil and rawget(list, 77 + i) == nil then words = words + 100 end
  if rawget(list, meta) == nil then words = words + 10000 end
  if i == 120 then list.other = nil; rawset(list, "fresh", i) end
  if rawget(list, "fresh") then words = words + rawget(list, "fresh") end
end
print(sum, words, asked)

-- a key that comes and goes, and one that is another each time
local t, found, missing = setmetatable({}, meta), 0, 0
for i = 1, 200 do
  if i % 40 == 0 then t.key = i end
  if i % 50 == 0 then t.key = nil end
  if rawget(t, "key") then found = found + 1 else missing = missing + 1 end
end
print(found, missing)
local names, total = {}, 0
for i = 1, 50 do names["k" .. i] = i end
for i = 1, 200 do total = total + (rawget(names, "k" .. i) or 1000) + (rawget(names, i) or 1) end
print(total)
-- holes, floats, and tables of the loop
local holes = 0
for i = 1, 150 do
  if rawget(list, 4) == nil then holes = holes + 1 end
  if rawget(list, i * 0.5) then holes = holes + 1000 end
  if i == 100 then list[4] = 40 end
end
print(holes, asked)
local made = 0
for i = 1, 150 do
  local o = setmetatable({ x = i }, meta)
  made = made + rawget(o, "x") + (rawget(o, "y") or 0) + rawget(list, 5)
end
print(made, asked, list.other)
local bare = { 1, nil, 3 }
for i = 1, 150 do
  if rawget(bare, i % 3 + 1) == nil then holes = holes + 1 end
  if i == 90 then setmetatable(bare, meta) end
end
print(holes, asked)
print(pcall(function () for i = 1, 100 do local x = rawget(i < 90 and list or nil, 1) end end))
print(pcall(function () for i = 1, 100 do if i < 90 then rawget(list, "name") else rawget(list) end end end))
