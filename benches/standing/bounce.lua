-- Things that bounce in a room: light and heavy balls, drops that lose speed, and walls that count.

local class = function(parent)
	local c = {}
	c.__index = c
	c.new = function(...)
		local self = setmetatable({}, c)
		self:init(...)
		return self
	end
	return setmetatable(c, parent and { __index = parent } or nil)
end

-- Random numbers: a generator as an object, so that two rooms do not disturb each other.
local Random = class()

function Random:init(seed)
	self.seed = seed
end

function Random:next()
	self.seed = (self.seed * 1309 + 13849) % 65536
	return self.seed
end

function Random:between(low, high)
	return low + self:next() % (high - low + 1)
end

local Room = class()

function Room:init(width, height, gravity)
	self.width, self.height, self.gravity = width, height, gravity
	self.things = {}
	self.hits = { left = 0, right = 0, top = 0, bottom = 0 }
	self.meetings = 0
end

function Room:add(thing)
	table.insert(self.things, thing)
	thing.room = self
	return thing
end

function Room:hit(side)
	self.hits[side] = self.hits[side] + 1
end

function Room:bounces()
	local h = self.hits
	return h.left + h.right + h.top + h.bottom
end

-- Things of one cell of a coarse grid may meet.
function Room:meet()
	local cells = {}
	for _, thing in ipairs(self.things) do
		local cell = math.floor(thing.x / 40) + 100 * math.floor(thing.y / 40)
		local others = cells[cell]
		if others then
			for i = 1, #others do
				if thing:touches(others[i]) then
					thing:collide(others[i])
					self.meetings = self.meetings + 1
				end
			end
			others[#others + 1] = thing
		else
			cells[cell] = { thing }
		end
	end
end

function Room:step()
	for _, thing in ipairs(self.things) do
		thing:move()
		thing:check_walls()
	end
	self:meet()
end

local Ball = class()

function Ball:init(random)
	self.x = random:between(20, 480)
	self.y = random:between(20, 480)
	self.vx = random:between(-150, 150) / 10
	self.vy = random:between(-150, 150) / 10
	self.radius = random:between(2, 9)
end

function Ball:mass() return self.radius ^ 2 end
function Ball:bounciness() return 1 end
function Ball:kind() return "ball" end

function Ball:move()
	self.x = self.x + self.vx
	self.y = self.y + self.vy
end

function Ball:check_walls()
	local room, r = self.room, self.radius
	if self.x > room.width - r then
		self.x = room.width - r
		self.vx = -math.abs(self.vx) * self:bounciness()
		room:hit("right")
	elseif self.x < r then
		self.x = r
		self.vx = math.abs(self.vx) * self:bounciness()
		room:hit("left")
	end
	if self.y > room.height - r then
		self.y = room.height - r
		self.vy = -math.abs(self.vy) * self:bounciness()
		self:landed()
		room:hit("bottom")
	elseif self.y < r then
		self.y = r
		self.vy = math.abs(self.vy) * self:bounciness()
		room:hit("top")
	end
end

function Ball:landed() end

function Ball:touches(other)
	local dx, dy = self.x - other.x, self.y - other.y
	local reach = self.radius + other.radius
	return dx * dx + dy * dy < reach * reach
end

-- An elastic push along the line between the two centers.
function Ball:collide(other)
	local dx, dy = other.x - self.x, other.y - self.y
	local d2 = dx * dx + dy * dy
	if d2 == 0 then return end
	local towards = (self.vx - other.vx) * dx + (self.vy - other.vy) * dy
	if towards <= 0 then return end
	local m1, m2 = self:mass(), other:mass()
	local push = 2 * towards / ((m1 + m2) * d2)
	self.vx, self.vy = self.vx - push * m2 * dx, self.vy - push * m2 * dy
	other.vx, other.vy = other.vx + push * m1 * dx, other.vy + push * m1 * dy
end

function Ball:energy()
	return 0.5 * self:mass() * (self.vx ^ 2 + self.vy ^ 2)
end

-- A heavy ball falls, and bounces less.
local HeavyBall = class(Ball)

function HeavyBall:mass() return 8 * self.radius ^ 2 end
function HeavyBall:bounciness() return 0.96 end
function HeavyBall:kind() return "heavy" end

function HeavyBall:move()
	self.vy = self.vy + self.room.gravity
	Ball.move(self)
end

-- A drop is thrown up again somewhere else when it has landed often enough.
local Drop = class(HeavyBall)

function Drop:init(random)
	HeavyBall.init(self, random)
	self.random = random
	self.landings, self.lives = 0, 1
end

function Drop:bounciness() return 0.7 end
function Drop:kind() return "drop" end

function Drop:landed()
	self.landings = self.landings + 1
	if self.landings % 4 == 0 then
		self.lives = self.lives + 1
		self.x, self.y = self.random:between(20, 480), 30
		self.vx = self.random:between(-30, 30) / 10
	end
end

-- Two rooms, of other contents and gravity.
local function furnish(seed, gravity, balls, heavy, drops)
	local random = Random.new(seed)
	local room = Room.new(500, 500, gravity)
	for _ = 1, balls do room:add(Ball.new(random)) end
	for _ = 1, heavy do room:add(HeavyBall.new(random)) end
	for _ = 1, drops do room:add(Drop.new(random)) end
	return room
end

local function report(name, room)
	local energy, lives, kinds, xs = 0, 0, {}, 0
	for _, thing in ipairs(room.things) do
		energy = energy + thing:energy()
		lives = lives + (thing.lives or 0)
		kinds[thing:kind()] = (kinds[thing:kind()] or 0) + 1
		xs = xs + thing.x
	end
	local h = room.hits
	print(string.format("%s: %d bounces (%d left, %d right, %d top, %d bottom), %d meetings",
		name, room:bounces(), h.left, h.right, h.top, h.bottom, room.meetings))
	print(string.format("    energy %.6f, lives %d, center %.6f, balls %d, heavy %d, drops %d",
		energy, lives, xs / #room.things, kinds.ball or 0, kinds.heavy or 0, kinds.drop or 0))
end

local quiet, lively = furnish(74755, 0.1, 60, 20, 20), furnish(4711, 0.5, 20, 10, 50)
for step = 1, 5000 do
	quiet:step()
	if step % 2 == 0 then lively:step() end
	if step % 2500 == 0 then
		report("quiet", quiet)
		report("lively", lively)
	end
end
