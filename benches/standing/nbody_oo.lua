-- Planets as objects with methods; vectors as objects, too.

local Vector = {}
Vector.__index = Vector

function Vector.new(x, y, z)
	return setmetatable({ x = x, y = y, z = z }, Vector)
end

function Vector.__add(a, b) return Vector.new(a.x + b.x, a.y + b.y, a.z + b.z) end
function Vector.__sub(a, b) return Vector.new(a.x - b.x, a.y - b.y, a.z - b.z) end
function Vector.__mul(a, s) return Vector.new(a.x * s, a.y * s, a.z * s) end

function Vector:dot(b)
	return self.x * b.x + self.y * b.y + self.z * b.z
end

function Vector:length()
	return math.sqrt(self:dot(self))
end

local SOLAR_MASS = 4 * math.pi ^ 2
local DAYS = 365.24

local Body = {}
Body.__index = Body

function Body.new(name, position, velocity, mass)
	return setmetatable({
		name = name,
		position = position,
		velocity = velocity * DAYS,
		mass = mass * SOLAR_MASS,
	}, Body)
end

function Body:momentum()
	return self.velocity * self.mass
end

function Body:kinetic_energy()
	return 0.5 * self.mass * self.velocity:dot(self.velocity)
end

function Body:potential_energy(other)
	return -self.mass * other.mass / (self.position - other.position):length()
end

function Body:attract(other, dt)
	local d = self.position - other.position
	local r2 = d:dot(d)
	local magnitude = dt / (r2 * math.sqrt(r2))
	self.velocity = self.velocity - d * (other.mass * magnitude)
	other.velocity = other.velocity + d * (self.mass * magnitude)
end

function Body:move(dt)
	self.position = self.position + self.velocity * dt
end

local System = {}
System.__index = System

function System.new(bodies)
	local self = setmetatable({ bodies = bodies, time = 0 }, System)
	-- The first body takes the momentum of the others, so that the whole stays where it is.
	local p = Vector.new(0, 0, 0)
	for _, body in ipairs(bodies) do
		p = p + body:momentum()
	end
	bodies[1].velocity = p * (-1 / bodies[1].mass)
	return self
end

function System:energy()
	local e = 0
	for i, body in ipairs(self.bodies) do
		e = e + body:kinetic_energy()
		for j = i + 1, #self.bodies do
			e = e + body:potential_energy(self.bodies[j])
		end
	end
	return e
end

function System:advance(dt)
	local bodies = self.bodies
	for i, body in ipairs(bodies) do
		for j = i + 1, #bodies do
			body:attract(bodies[j], dt)
		end
	end
	for _, body in ipairs(bodies) do
		body:move(dt)
	end
	self.time = self.time + dt
end

function System:run(steps, dt, watch)
	for step = 1, steps do
		self:advance(dt)
		if watch and step % 100 == 0 then
			watch(self)
		end
	end
end

local function sun_and_planets()
	return System.new {
		Body.new("Sun", Vector.new(0, 0, 0), Vector.new(0, 0, 0), 1),
		Body.new("Jupiter",
			Vector.new(4.84143144246472090, -1.16032004402742839, -0.103622044471123109),
			Vector.new(0.00166007664274403694, 0.00769901118419740425, -0.0000690460016972063023),
			0.000954791938424326609),
		Body.new("Saturn",
			Vector.new(8.34336671824457987, 4.12479856412430479, -0.403523417114321381),
			Vector.new(-0.00276742510726411610, 0.00499852801234917238, 0.0000230417297573763929),
			0.000285885980666130812),
		Body.new("Uranus",
			Vector.new(12.8943695621391310, -15.1111514016986312, -0.223307578892655734),
			Vector.new(0.00296460137564761618, 0.00237847173959480950, -0.0000296589568540237556),
			0.0000436624404335156298),
		Body.new("Neptune",
			Vector.new(15.3796971148509165, -25.9193146099879641, 0.179258772950371181),
			Vector.new(0.00268067772490389322, 0.00162824170038242295, -0.0000951592254519715870),
			0.0000515138902046611451),
	}
end

local system = sun_and_planets()
print(string.format("%.9f", system:energy()))

-- While it runs, note how near to the sun each planet comes.
local nearest = {}
system:run(28000, 0.01, function(s)
	local sun = s.bodies[1]
	for i = 2, #s.bodies do
		local planet = s.bodies[i]
		local distance = (planet.position - sun.position):length()
		if distance < (nearest[planet.name] or math.huge) then
			nearest[planet.name] = distance
		end
	end
end)
print(string.format("%.9f after %.1f years", system:energy(), system.time))
for i = 2, #system.bodies do
	local body = system.bodies[i]
	print(string.format("%-8s %.6f %.6f %.6f, nearest %.6f", body.name,
		body.position.x, body.position.y, body.position.z, nearest[body.name]))
end
