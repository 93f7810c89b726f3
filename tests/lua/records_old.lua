-- New records put into tables that the collector has seen already: the barrier, in both modes.
local function run()
  local old = { slot = false, list = { false, false, false, false } }
  collectgarbage()
  local list, sum = old.list, 0
  for i = 1, 200 do
    old.slot = { value = i }
    list[i % 4 + 1] = { i }
    old.link = i % 3 == 0 and { up = old.slot } or nil
    if i % 40 == 0 then collectgarbage("step") end
    sum = sum + old.slot.value + list[i % 4 + 1][1]
  end
  for i = 1, 4 do sum = sum + list[i][1] end
  return sum, old.slot.value
end
print(run())
collectgarbage("generational")
print(run())
for i = 1, 3 do collectgarbage("step") end
print(run())
collectgarbage("incremental")
-- a list that grows at its far end
local first = { n = 0 }
local tail = first
for i = 1, 500 do
  local new = { n = i, next = false }
  tail.next = new
  tail = new
end
local length = 0
local node = first
while node do length = length + 1; node = node.next end
print(length, tail.n, tail.next)
-- metamethods that come later
local class, made = {}, 0
for i = 1, 40 do
  if i == 20 then class.__index = function(t, k) return 7 end end
  local o = setmetatable({ v = i }, class)
  made = made + o.v + (o.w or 0)
end
print(made)
local proto, hits = {}, 0
local object = setmetatable({}, proto)
for i = 1, 40 do
  if i == 25 then proto.__index = { field = 1 } end
  if object.field then hits = hits + 1 end
end
print(hits)
