-- Events: an emitter (on, once, off, priorities, wildcards, stopping), a bus that queues, a little reactive layer on
-- top of it, and a simulation of a shop with tills, in which everything is said by events.

local Emitter = {}
Emitter.__index = Emitter

function Emitter.new()
	return setmetatable({ listeners = {}, wildcards = {}, emitted = 0, called = 0 }, Emitter)
end

local function insert_by_priority(list, entry)
	local at = #list + 1
	while at > 1 and list[at - 1].priority < entry.priority do
		at = at - 1
	end
	table.insert(list, at, entry)
end

function Emitter:on(event, handler, options)
	options = options or {}
	local entry = { handler = handler, priority = options.priority or 0, once = options.once }
	if event:find("*", 1, true) then
		entry.pattern = "^" .. event:gsub("%p", "%%%0"):gsub("%%%*", "[^.]*") .. "$"
		insert_by_priority(self.wildcards, entry)
	else
		local list = self.listeners[event]
		if not list then
			list = {}
			self.listeners[event] = list
		end
		insert_by_priority(list, entry)
	end
	return function()
		entry.removed = true
		self:sweep(event)
	end
end

function Emitter:once(event, handler)
	return self:on(event, handler, { once = true })
end

function Emitter:sweep(event)
	local list = event:find("*", 1, true) and self.wildcards or self.listeners[event]
	if self.depth and self.depth > 0 then
		self.dirty = self.dirty or {}
		self.dirty[#self.dirty + 1] = event
		return
	end
	for i = #list, 1, -1 do
		if list[i].removed then table.remove(list, i) end
	end
end

function Emitter:emit(event, ...)
	self.emitted = self.emitted + 1
	self.depth = (self.depth or 0) + 1
	local stopped = false
	local function call(entry, ...)
		if entry.removed then return end
		if entry.once then
			entry.removed = true
			self.dirty = self.dirty or {}
			self.dirty[#self.dirty + 1] = event
		end
		self.called = self.called + 1
		if entry.handler(...) == false then stopped = true end
	end
	local list = self.listeners[event]
	if list then
		for i = 1, #list do
			call(list[i], ...)
			if stopped then break end
		end
	end
	if not stopped then
		for _, entry in ipairs(self.wildcards) do
			if event:match(entry.pattern) then call(entry, event, ...) end
		end
	end
	self.depth = self.depth - 1
	if self.depth == 0 and self.dirty then
		local dirty = self.dirty
		self.dirty = nil
		for _, name in ipairs(dirty) do
			if self.listeners[name] then self:sweep(name) end
		end
		self:sweep("*")
	end
	return not stopped
end

-- Events that are delivered later, in the order of their time; equal times in the order of their posting.
local Clock = {}
Clock.__index = Clock

function Clock.new(emitter)
	return setmetatable({ emitter = emitter, now = 0, first = nil, posted = 0, pool = {} }, Clock)
end

function Clock:after(delay, event, ...)
	local entry = table.remove(self.pool) or {}
	entry.time, entry.event, entry.n = self.now + delay, event, select("#", ...)
	for i = 1, entry.n do
		entry[i] = (select(i, ...))
	end
	self.posted = self.posted + 1
	local previous, current = nil, self.first
	while current and current.time <= entry.time do
		previous, current = current, current.next
	end
	entry.next = current
	if previous then previous.next = entry else self.first = entry end
	return entry
end

local unpack = table.unpack or unpack

function Clock:run(limit)
	while self.first and self.first.time <= limit do
		local entry = self.first
		self.first = entry.next
		self.now = entry.time
		if not entry.cancelled then
			self.emitter:emit(entry.event, unpack(entry, 1, entry.n))
		end
		entry.cancelled, entry.next = nil, nil
		self.pool[#self.pool + 1] = entry
	end
	self.now = limit
end

-- Values that tell when they change.
local function observable(value)
	local watchers = {}
	local self = {}
	function self.get() return value end
	function self.set(new)
		if new == value then return end
		local old = value
		value = new
		for i = 1, #watchers do watchers[i](new, old) end
	end
	function self.watch(f) watchers[#watchers + 1] = f end
	function self.map(f)
		local result = observable(f(value))
		self.watch(function(new) result.set(f(new)) end)
		return result
	end
	return self
end

local function combine(a, b, f)
	local result = observable(f(a.get(), b.get()))
	a.watch(function(x) result.set(f(x, b.get())) end)
	b.watch(function(y) result.set(f(a.get(), y)) end)
	return result
end

----------------------------------------------------------------------- the shop

local seed
local function random(n)
	seed = seed * 16807 % 2147483647
	return seed % n + 1
end

local articles = { "milk", "bread", "soap", "rice", "wine", "paper" }

local function shop(name, tills, hours)
	local bus = Emitter.new()
	local clock = Clock.new(bus)
	local stock, revenue = {}, observable(0)
	local log = { served = 0, lost = 0, waited = 0, longest = 0, orders = 0, alarms = 0, by_kind = {} }

	for _, article in ipairs(articles) do
		stock[article] = observable(120)
		stock[article].watch(function(amount, before)
			if amount < 40 and before >= 40 then
				bus:emit("stock.low", article, amount)
			end
		end)
	end
	local staples = combine(stock.milk, stock.bread, function(milk, bread) return milk + bread end)
	staples.map(function(sum) return sum < 60 end).watch(function(low)
		if low then log.alarms = log.alarms + 1 end
	end)
	local rounded = revenue.map(function(cents) return math.floor(cents / 10000) end)
	local milestones = 0
	rounded.watch(function() milestones = milestones + 1 end)

	local queues = {}
	for i = 1, tills do
		queues[i] = { number = i, open = i <= 2, speed = 3 + i % 3 }
	end

	local function shortest()
		local best
		for _, queue in ipairs(queues) do
			if queue.open and (not best or #queue < #best) then best = queue end
		end
		return best
	end

	bus:on("customer.arrives", function(id)
		local customer = { id = id, at = clock.now, basket = {} }
		for _ = 1, random(6) do
			local article = articles[random(#articles)]
			local left = stock[article].get()
			if left > 0 then
				stock[article].set(left - 1)
				customer.basket[#customer.basket + 1] = article
			else
				bus:emit("stock.missing", article)
			end
		end
		local queue = shortest()
		if #customer.basket == 0 or #queue > 8 then
			bus:emit("customer.leaves", customer)
		else
			queue[#queue + 1] = customer
			if #queue == 1 then bus:emit("till.starts", queue) end
		end
		clock:after(random(queue.speed + 2), "customer.arrives", id + 1)
	end)

	bus:on("till.starts", function(queue)
		local customer = queue[1]
		local wait = clock.now - customer.at
		log.waited = log.waited + wait
		if wait > log.longest then log.longest = wait end
		clock:after(queue.speed + #customer.basket, "till.done", queue)
	end)

	bus:on("till.done", function(queue)
		local customer = table.remove(queue, 1)
		local total = 0
		for _, article in ipairs(customer.basket) do
			total = total + #article * 35 + 20
		end
		revenue.set(revenue.get() + total)
		log.served = log.served + 1
		if queue[1] then bus:emit("till.starts", queue) end
	end)

	-- Tills open and close by the length of the queues.
	bus:on("minute", function()
		local waiting, open = 0, 0
		for _, queue in ipairs(queues) do
			waiting = waiting + #queue
			if queue.open then open = open + 1 end
		end
		for _, queue in ipairs(queues) do
			if waiting > open * 4 and not queue.open then
				queue.open = true
				bus:once("till.done", function() log.opened = (log.opened or 0) + 1 end)
				break
			elseif waiting < open and open > 1 and queue.open and #queue == 0 then
				queue.open = false
				break
			end
		end
		clock:after(60, "minute")
	end)

	bus:on("customer.leaves", function() log.lost = log.lost + 1 end)

	bus:on("stock.low", function(article)
		log.orders = log.orders + 1
		clock:after(60 + random(400), "stock.delivered", article, 60 + random(60))
		local off
		off = bus:on("stock.missing", function(other)
			if other == article then
				off()
				clock:after(random(100), "stock.delivered", article, 10)
			end
		end, { priority = random(3) })
	end)
	bus:on("stock.delivered", function(article, amount)
		stock[article].set(stock[article].get() + amount)
		if random(10) == 1 then return false end
	end, { priority = 5 })

	bus:on("stock.*", function(event)
		log.by_kind[event] = (log.by_kind[event] or 0) + 1
	end)
	bus:on("*.*", function(event)
		log.sum = ((log.sum or 7) * 31 + #event + clock.now) % 1000000007
	end, { priority = -1 })

	clock:after(1, "customer.arrives", 1)
	clock:after(60, "minute")
	for hour = 1, hours do
		clock:run(hour * 3600)
	end
	print(("%-8s served %d lost %d mean wait %.3f longest %d opened %d orders %d alarms %d revenue %d.%02d milestones %d"):format(name,
		log.served, log.lost, log.waited / log.served, log.longest, log.opened or 0, log.orders, log.alarms,
		math.floor(revenue.get() / 100), revenue.get() % 100, milestones))
	print(("  low %d missing %d delivered %d emitted %d called %d posted %d sum %d"):format(log.by_kind["stock.low"] or 0,
		log.by_kind["stock.missing"] or 0, log.by_kind["stock.delivered"] or 0, bus.emitted, bus.called, clock.posted, log.sum))
end

seed = 8675309
shop("corner", 3, 16)
shop("market", 6, 24)
shop("station", 4, 32)
