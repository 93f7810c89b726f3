-- Objects with methods and inheritance: tasks that pass packets.
local Task = {}
Task.__index = Task
function Task.new(class, name) return setmetatable({ name = name, queue = {}, first = 1, last = 0, handled = 0 }, class) end
function Task:push(packet) self.last = self.last + 1; self.queue[self.last] = packet end
function Task:pop()
  if self.first > self.last then return nil end
  local packet = self.queue[self.first]
  self.queue[self.first] = nil
  self.first = self.first + 1
  return packet
end
function Task:run(scheduler)
  local packet = self:pop()
  if packet then
    self.handled = self.handled + 1
    self:handle(packet, scheduler)
  end
  return packet ~= nil
end
local Worker = setmetatable({}, { __index = Task })
Worker.__index = Worker
function Worker:handle(packet, scheduler)
  packet.value = (packet.value * 17 + 11) % 1009
  packet.hops = packet.hops - 1
  if packet.hops > 0 then scheduler:route(packet) end
end
local Device = setmetatable({}, { __index = Task })
Device.__index = Device
function Device:handle(packet, scheduler)
  packet.value = packet.value + 1
  packet.hops = packet.hops - (packet.value % 5 ~= 0 and 2 or 1)
  if packet.hops > 0 then scheduler:route(packet) end
end
local scheduler = { tasks = {} }
function scheduler:route(packet) self.tasks[packet.value % #self.tasks + 1]:push(packet) end
for i = 1, 6 do scheduler.tasks[i] = Task.new(i % 2 == 0 and Worker or Device, "task" .. i) end
for i = 1, 3000 do scheduler:route({ value = i, hops = 300 }) end
local steps, busy = 0, true
while busy do
  busy = false
  for _, task in ipairs(scheduler.tasks) do
    if task:run(scheduler) then busy = true; steps = steps + 1 end
  end
end
print(steps, scheduler.tasks[1].handled, scheduler.tasks[6].handled)
