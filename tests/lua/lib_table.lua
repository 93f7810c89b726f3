-- Lists: elements added and taken at the end.
local insert, remove, unpack = table.insert, table.remove, table.unpack
local list = {}
for i = 1, 200 do insert(list, i * i) end
print(#list, list[1], list[200])
local sum, left = 0, 0
for i = 1, 200 do
  sum = sum + remove(list) * i
  left = left + #list
end
print(sum, left, #list, remove(list), next(list))

-- a stack that grows and shrinks, with values of several kinds
local stack, trace = {}, 0
for i = 1, 300 do
  insert(stack, i)
  if i % 3 == 0 then
    trace = trace * 3 + remove(stack)
    trace = (trace + remove(stack)) % 1000003
  end
end
print(#stack, stack[1], stack[#stack], trace)
local mixed, kinds = {}, {}
for i = 1, 150 do
  insert(mixed, i % 5 == 0 and "s" .. i or i % 5 == 1 and {} or i % 5 == 2 and i / 2 or i % 5 == 3)
  if i % 4 == 0 then
    local v = remove(mixed)
    kinds[type(v)] = (kinds[type(v)] or 0) + 1
  end
end
print(#mixed, kinds.number, kinds.string, kinds.boolean, kinds.table)
-- emptied, and taken from when empty, which looks at the element 0
local empty = { [0] = "zero" }
local nils = 0
for i = 1, 60 do
  if i < 40 then insert(empty, i) end
  if i >= 10 and remove(empty) == nil then nils = nils + 1 end
  if i > 50 and remove(empty) == nil then nils = nils + 100 end
end
print(#empty, nils, empty[0])
-- with holes at the end and in the hash part
local holes = { 1, 2, 3, nil, 5 }
for i = 1, 100 do
  insert(holes, i)
  holes[#holes] = nil
  insert(holes, nil)
end
print(#holes == 3 or #holes == 5)
local sparse = {}
for i = 1, 20 do sparse[21 - i] = i end
local taken = 0
for i = 1, 18 do taken = taken * 2 + remove(sparse) end
print(taken, #sparse)

-- metatables that come on the way
local log = {}
local watched = {}
local meta = { __newindex = function (t, k, v) log[#log + 1] = k; rawset(t, k, v) end, __len = function () return 7 end }
for i = 1, 100 do
  if i == 80 then setmetatable(watched, meta) end
  if i == 85 then setmetatable(watched, nil) end
  insert(watched, i)
end
print(#watched, watched[8], table.concat(log, " "), watched[7])
local shrinks = {}
for i = 1, 120 do shrinks[i] = i end
local got = 0
for i = 1, 100 do
  if i == 80 then setmetatable(shrinks, { __index = function () return 1000 end, __len = function () return 200 end }) end
  if i == 85 then setmetatable(shrinks, nil) end
  got = got + remove(shrinks)
end
print(got, #shrinks)

-- unpacked: always three, then four, then none
local parts, total = { 1, 2, 3 }, 0
for i = 1, 150 do
  if i == 100 then insert(parts, 4) end
  if i == 130 then parts = {} end
  local a, b, c, d = unpack(parts)
  total = total + (a or 100) + (b or 0) + (c or 0) + (d or 1000) + select("#", unpack(parts)) + math.max(0, unpack(parts))
end
print(total)
local function all (t) return unpack(t) end
for i = 1, 100 do
  local x, y = all({ i, i + 1 })
  total = total + x * y
end
print(total)

-- other forms are the interpreter's
local queue, order = {}, 0
for i = 1, 100 do
  insert(queue, 1, i)
  if i % 2 == 0 then order = order * 7 % 100003 + remove(queue, 1) + remove(queue, #queue) end
end
print(#queue, order)
-- errors, and arguments that change
local function try (f, good, bad)
  local count = 0
  print(pcall(function ()
    for i = 1, 90 do
      local t = good
      if i == 80 then t = bad end
      f(t, i)
      count = i
    end
  end))
  print(count)
end
try(function (t, i) insert(t, i) end, {}, nil)
try(function (t, i) remove(t) end, {}, 5)
try(function (t, i) local a, b = unpack(t) end, { 1 }, false)
try(function (t, i) if i < 80 then insert(t, i) else insert(t) end end, {}, {})
try(function (t, i) if i < 80 then insert(t, i) else insert(t, 1, 2, 3) end end, {}, {})
try(function (t, i) insert(t, i) insert(t, t[1]) end, {}, { 5 })
local self = {}
for i = 1, 100 do insert(self, self) end
print(self[100] == self, #self)
-- while the collector is at work: what a table gets must stay
local kept = {}
for i = 1, 300 do
  insert(kept, { n = i })
  if i % 3 == 0 then remove(kept) end
  if i % 16 == 0 then collectgarbage("step", 1) end
end
local ns = 0
for i = 1, #kept do ns = ns + kept[i].n end
print(#kept, ns)
