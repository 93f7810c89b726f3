-- A small operating system that runs a print shop: tasks with priorities and queues of packets, each task an
-- object whose step is called when it is its turn. Customers write orders, clerks sort them, printers print
-- them page by page, a courier brings them back.

local bit = require("bit")
local band, bor, bxor, bnot, rshift = bit.band, bit.bor, bit.bxor, bit.bnot, bit.rshift

-- States of a task are bits.
local READY, WAITING, STOPPED = 1, 2, 4

------------------------------------------------------------------ queues
local Queue = {}
Queue.__index = Queue

function Queue.new()
   return setmetatable({ head = nil, tail = nil, length = 0 }, Queue)
end

function Queue:put(packet)
   packet.link = nil
   if self.tail then
      self.tail.link = packet
   else
      self.head = packet
   end
   self.tail = packet
   self.length = self.length + 1
end

function Queue:take()
   local packet = self.head
   if packet then
      self.head = packet.link
      if not self.head then self.tail = nil end
      packet.link = nil
      self.length = self.length - 1
   end
   return packet
end

local Packet = {}
Packet.__index = Packet

function Packet.new(kind, sender, pages)
   return setmetatable({ kind = kind, sender = sender, pages = pages, printed = 0, sum = 0 }, Packet)
end

--------------------------------------------------------------- scheduler
local Scheduler = {}
Scheduler.__index = Scheduler

function Scheduler.new()
   return setmetatable({ tasks = {}, names = {}, steps = 0, packets = 0, check = 0 }, Scheduler)
end

function Scheduler:add(name, task, priority)
   task.name, task.priority, task.scheduler = name, priority, self
   task.queue, task.state, task.steps = Queue.new(), task.state or READY, 0
   self.names[name] = task
   -- The list of tasks stays sorted, the most urgent first.
   local at = self.tasks
   if not self.first or priority > self.first.priority then
      task.next_task, self.first = self.first, task
   else
      at = self.first
      while at.next_task and at.next_task.priority >= priority do at = at.next_task end
      task.next_task, at.next_task = at.next_task, task
   end
   return task
end

function Scheduler:send(name, packet)
   local task = self.names[name]
   task.queue:put(packet)
   task.state = band(task.state, bnot(WAITING))
   self.packets = self.packets + 1
   self.check = band(bxor(self.check * 33, packet.pages * 8 + task.priority), 0xFFFFFF)
   return task.priority > self.current.priority and task or self.current
end

function Scheduler:wait()
   self.current.state = bor(self.current.state, WAITING)
   return nil
end

function Scheduler:stop()
   self.current.state = bor(self.current.state, STOPPED)
   return nil
end

function Scheduler:run()
   local task = self.first
   while task do
      if band(task.state, STOPPED) ~= 0 then
         task = task.next_task
      elseif band(task.state, WAITING) ~= 0 and task.queue.length == 0 then
         task = task.next_task
      else
         self.current = task
         self.steps = self.steps + 1
         task.steps = task.steps + 1
         local packet = nil
         if band(task.state, WAITING) ~= 0 or task.queue.length > 0 then packet = task.queue:take() end
         task.state = band(task.state, bnot(WAITING))
         -- A step names the task that is to go on, or nothing: then the search starts at the top.
         task = task:step(packet) or self:most_urgent()
      end
   end
end

function Scheduler:most_urgent()
   local task = self.first
   while task do
      if band(task.state, STOPPED) == 0 and (band(task.state, WAITING) == 0 or task.queue.length > 0) then return task end
      task = task.next_task
   end
   return nil
end

------------------------------------------------------------------- tasks
local function kind_of_task(step)
   local class = { step = step }
   class.__index = class
   return function(fields) return setmetatable(fields, class) end, class
end

-- Counts down, and each time wakes a few customers, some of them twice.
local Clock = kind_of_task(function(self)
   self.left = self.left - 1
   if self.left == 0 then return self.scheduler:stop() end
   for _ = 0, band(self.bits, 7) do
      self.bits = band(self.bits, 1) == 0 and rshift(self.bits, 1) or bxor(rshift(self.bits, 1), 0xD008)
      local customer = self.customers[self.bits % #self.customers + 1]
      self.scheduler:send(customer, Packet.new("tick", self.name, 0))
   end
   return nil
end)

-- Writes an order at each tick; proud of the work that comes back.
local Customer = kind_of_task(function(self, packet)
   if not packet then return self.scheduler:wait() end
   if packet.kind == "tick" then
      self.seed = band(self.seed * 25173 + 13849, 0xFFFF)
      self.ordered = self.ordered + 1
      return self.scheduler:send("clerk", Packet.new(self.seed % 3 == 0 and "color" or "plain", self.name, 1 + self.seed % 7))
   end
   self.received = self.received + 1
   self.pages = self.pages + packet.pages
   self.sum = (self.sum + packet.sum) % 1000003
   return nil
end)

-- Sends orders on: by kind, plain ones to the shorter of two queues.
local Clerk = kind_of_task(function(self, packet)
   if not packet then return self.scheduler:wait() end
   local names = self.scheduler.names
   if packet.kind == "color" then
      self.color = self.color + 1
      return self.scheduler:send("color printer", packet)
   end
   self.plain = self.plain + 1
   local a, b = names["printer 1"], names["printer 2"]
   return self.scheduler:send(a:load() <= b:load() and a.name or b.name, packet)
end)

-- Prints one page a step.
local Printer, printer = kind_of_task(function(self, packet)
   if packet then
      self.backlog:put(packet)
   end
   local job = self.job or self.backlog:take()
   if not job then return self.scheduler:wait() end
   self.job = job
   job.printed = job.printed + 1
   for letter = 1, self.letters do
      job.sum = (job.sum * 7 + letter * job.printed + self.ink) % 65521
   end
   self.ink = self.ink - 1
   if self.ink == 0 then self.ink, self.refills = 100, self.refills + 1 end
   if job.printed < job.pages then return nil end
   self.job = nil
   self.jobs = self.jobs + 1
   return self.scheduler:send("courier", job)
end)

function printer:load()
   return self.queue.length + self.backlog.length + (self.job and 1 or 0)
end

-- Collects a bag of jobs and then brings each to its customer.
local Courier = kind_of_task(function(self, packet)
   if packet then
      self.bag[#self.bag + 1] = packet
      if #self.bag < self.room then return nil end
   end
   if #self.bag == 0 then return self.scheduler:wait() end
   self.tours = self.tours + 1
   table.sort(self.bag, function(a, b)
      if a.sender ~= b.sender then return a.sender < b.sender end
      return a.sum < b.sum
   end)
   for i, job in ipairs(self.bag) do
      self.scheduler:send(job.sender, job)
      self.bag[i] = nil
   end
   return self.scheduler:wait()
end)

-------------------------------------------------------------------- main
for round = 1, 3 do
   local s = Scheduler.new()
   local customers = { "Ada", "Bo", "Cleo", "Dag" }
   s:add("clock", Clock { left = 2400 + round * 1000, bits = 0x1234 + round, customers = customers }, 0)
   for i, name in ipairs(customers) do
      s:add(name, Customer { seed = i * 1000, ordered = 0, received = 0, pages = 0, sum = 0, state = WAITING }, 10 * i)
   end
   s:add("clerk", Clerk { color = 0, plain = 0, state = WAITING }, 35)
   for i, name in ipairs { "printer 1", "printer 2", "color printer" } do
      s:add(name, Printer { letters = i * 6, ink = 100, refills = 0, jobs = 0, backlog = Queue.new(), state = WAITING }, 4 + i)
   end
   s:add("courier", Courier { bag = {}, room = 4 + round, tours = 0, state = WAITING }, 3)
   s:run()

   print(string.format("round %d: %d steps, %d packets, check %d", round, s.steps, s.packets, s.check))
   for _, name in ipairs(customers) do
      local c = s.names[name]
      print(string.format("  %-4s ordered %d, received %d with %d pages, sum %d", name, c.ordered, c.received, c.pages, c.sum))
   end
   local clerk, courier = s.names.clerk, s.names.courier
   print(string.format("  clerk %d plain, %d color; courier %d tours, %d left", clerk.plain, clerk.color, courier.tours, #courier.bag))
   for _, name in ipairs { "printer 1", "printer 2", "color printer" } do
      local p = s.names[name]
      print(string.format("  %-13s %d jobs, %d refills, %d steps", name, p.jobs, p.refills, p.steps))
   end
end
