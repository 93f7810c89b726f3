-- Finalizers that run between rounds of hot loops: they see and change what the loop uses, throw, and make more garbage.
local closed, order = 0, {}
local mt = { __gc = function(o) closed = closed + 1; order[#order + 1] = o.id end }
for i = 1, 60 do setmetatable({ id = i }, mt); if i % 20 == 0 then collectgarbage() end end
collectgarbage()
table.sort(order)
print(closed, order[1], order[60], #order)
local counter = 0
local m2 = { __gc = function() counter = counter + 1 end }
local s = 0
for i = 1, 100 do
  s = s + 1
  if i == 50 then setmetatable({}, m2); collectgarbage() end
  if counter > 0 then s = s + 10 end
end
print(s, counter)
-- The finalizer changes types of what the loop reads.
local box = { v = 1 }
local m3 = { __gc = function() box.v = box.v + 0.5 end }
local t = 0
for i = 1, 100 do
  t = t + box.v
  if i % 30 == 0 then setmetatable({}, m3); collectgarbage() end
end
print(t, box.v)
local back
local m4 = { __gc = function(o) back = o end }
for i = 1, 60 do
  if i == 30 then setmetatable({ name = "lazarus" }, m4); collectgarbage() end
  if back and i == 40 then s = s + #back.name end
end
print(s, back.name)
local runs = 0
local m5 = { __gc = function() runs = runs + 1; for i = 1, 60 do runs = runs + 0 end local x = {} x[1] = x end }
for i = 1, 60 do setmetatable({}, m5) end
collectgarbage()
print(runs)
local sequence = {}
for i = 1, 5 do setmetatable({}, { __gc = function() sequence[#sequence + 1] = i end }) end
collectgarbage()
table.sort(sequence)
print(table.concat(sequence, " "))
-- A finalizer runs a coroutine and catches an error.
local result
setmetatable({}, { __gc = function()
  local ok, e = pcall(function() for i = 1, 60 do if i == 50 then error("in gc", 0) end end end)
  result = tostring(ok) .. " " .. e .. " " .. coroutine.wrap(function() coroutine.yield("co") end)()
end })
for i = 1, 60 do s = s + 1; if i == 30 then collectgarbage() end end
print(result, s)
setmetatable({ id = "last" }, { __gc = function(o) print("at the end", o.id) end })
