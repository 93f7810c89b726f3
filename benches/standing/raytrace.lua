-- A small ray tracer: spheres, boxes and a floor; shadows, mirrors; vectors and things as objects.

local sqrt, floor, max, min, huge = math.sqrt, math.floor, math.max, math.min, math.huge

---------------------------------------------------------------- vectors
local Vec = {}
Vec.__index = Vec

local function vec(x, y, z)
  return setmetatable({ x = x, y = y, z = z }, Vec)
end

Vec.__add = function(a, b) return vec(a.x + b.x, a.y + b.y, a.z + b.z) end
Vec.__sub = function(a, b) return vec(a.x - b.x, a.y - b.y, a.z - b.z) end
Vec.__unm = function(a) return vec(-a.x, -a.y, -a.z) end
Vec.__mul = function(a, s) return vec(a.x * s, a.y * s, a.z * s) end

function Vec:dot(b) return self.x * b.x + self.y * b.y + self.z * b.z end
function Vec:cross(b)
  return vec(self.y * b.z - self.z * b.y, self.z * b.x - self.x * b.z, self.x * b.y - self.y * b.x)
end
function Vec:length() return sqrt(self:dot(self)) end
function Vec:unit() return self * (1 / self:length()) end
function Vec:filter(b) return vec(self.x * b.x, self.y * b.y, self.z * b.z) end
function Vec:reflect(n) return self - n * (2 * self:dot(n)) end

---------------------------------------------------------------- things
local EPSILON = 1e-6

local Sphere = {}
Sphere.__index = Sphere

function Sphere.new(center, radius, surface)
  return setmetatable({ center = center, radius = radius, surface = surface }, Sphere)
end

-- The distance along the ray, or nil.
function Sphere:intersect(origin, direction)
  local to = self.center - origin
  local b = to:dot(direction)
  local d = b * b - to:dot(to) + self.radius * self.radius
  if d < 0 then return nil end
  d = sqrt(d)
  if b - d > EPSILON then return b - d end
  if b + d > EPSILON then return b + d end
  return nil
end

function Sphere:normal(point)
  return (point - self.center) * (1 / self.radius)
end

function Sphere:color() return self.surface.color end

local Floor = {}
Floor.__index = Floor

function Floor.new(height, surface, other)
  return setmetatable({ height = height, surface = surface, other = other }, Floor)
end

function Floor:intersect(origin, direction)
  if direction.y > -EPSILON then return nil end
  local t = (self.height - origin.y) / direction.y
  if t > EPSILON then return t end
  return nil
end

local UP = vec(0, 1, 0)
function Floor:normal() return UP end

function Floor:color(point)
  if (floor(point.x) + floor(point.z)) % 2 == 0 then return self.surface.color end
  return self.other
end

local Box = {}
Box.__index = Box

function Box.new(low, high, surface)
  return setmetatable({ low = low, high = high, surface = surface }, Box)
end

local AXES = { "x", "y", "z" }

function Box:intersect(origin, direction)
  local near, far = -huge, huge
  for _, axis in ipairs(AXES) do
    local o, d = origin[axis], direction[axis]
    if d == 0 then
      if o < self.low[axis] or o > self.high[axis] then return nil end
    else
      local t1, t2 = (self.low[axis] - o) / d, (self.high[axis] - o) / d
      if t1 > t2 then t1, t2 = t2, t1 end
      if t1 > near then near = t1 end
      if t2 < far then far = t2 end
    end
  end
  if near > far or far < EPSILON then return nil end
  if near > EPSILON then return near end
  return far
end

function Box:normal(point)
  for _, axis in ipairs(AXES) do
    if math.abs(point[axis] - self.low[axis]) < 1e-5 then
      return vec(axis == "x" and -1 or 0, axis == "y" and -1 or 0, axis == "z" and -1 or 0)
    elseif math.abs(point[axis] - self.high[axis]) < 1e-5 then
      return vec(axis == "x" and 1 or 0, axis == "y" and 1 or 0, axis == "z" and 1 or 0)
    end
  end
  return UP
end

function Box:color() return self.surface.color end

---------------------------------------------------------------- the scene
local Scene = {}
Scene.__index = Scene

function Scene.new()
  return setmetatable({ things = {}, lights = {}, rays = 0, shadows = 0 }, Scene)
end

function Scene:add(thing)
  self.things[#self.things + 1] = thing
end

function Scene:nearest(origin, direction)
  self.rays = self.rays + 1
  local best, found = huge, nil
  for _, thing in ipairs(self.things) do
    local t = thing:intersect(origin, direction)
    if t and t < best then best, found = t, thing end
  end
  return found, best
end

function Scene:is_dark(point, towards, distance)
  self.shadows = self.shadows + 1
  for _, thing in ipairs(self.things) do
    local t = thing:intersect(point, towards)
    if t and t < distance then return true end
  end
  return false
end

function Scene:shade(thing, point, direction, depth)
  local normal = thing:normal(point)
  if normal:dot(direction) > 0 then normal = -normal end
  local color = thing:color(point)
  local result = color * 0.1
  local start = point + normal * 1e-4
  for _, light in ipairs(self.lights) do
    local to = light.position - start
    local distance = to:length()
    local towards = to * (1 / distance)
    local lambert = towards:dot(normal)
    if lambert > 0 and not self:is_dark(start, towards, distance) then
      result = result + color:filter(light.color) * lambert
      local shine = towards:reflect(normal):dot(direction)
      if shine > 0 and thing.surface.gloss > 0 then
        local s = shine * shine
        s = s * s
        result = result + light.color * (s * s * thing.surface.gloss)
      end
    end
  end
  if thing.surface.mirror > 0 and depth < 4 then
    local seen = self:trace(start, direction:reflect(normal):unit(), depth + 1)
    result = result * (1 - thing.surface.mirror) + seen * thing.surface.mirror
  end
  return result
end

function Scene:trace(origin, direction, depth)
  local thing, distance = self:nearest(origin, direction)
  if not thing then
    local blue = 0.5 + 0.5 * max(direction.y, 0)
    return vec(0.3, 0.4, blue)
  end
  return self:shade(thing, origin + direction * distance, direction, depth)
end

function Scene:render(eye, target, width, height, pixel)
  local forward = (target - eye):unit()
  local right = forward:cross(UP):unit()
  local up = right:cross(forward)
  for row = 0, height - 1 do
    for column = 0, width - 1 do
      local u = (column + 0.5) / width * 2 - 1
      local v = 1 - (row + 0.5) / height * 2
      local direction = (forward + right * (u * 0.8) + up * (v * 0.6)):unit()
      pixel(column, row, self:trace(eye, direction, 0))
    end
  end
end

---------------------------------------------------------------- main
local scene = Scene.new()
local seed = 31
local function random()
  seed = (seed * 16807) % 2147483647
  return seed / 2147483647
end

scene:add(Floor.new(0, { color = vec(0.9, 0.9, 0.8), mirror = 0.15, gloss = 0 }, vec(0.2, 0.3, 0.2)))
scene:add(Sphere.new(vec(0, 1.2, 0), 1.2, { color = vec(0.9, 0.9, 0.9), mirror = 0.7, gloss = 0.8 }))
for i = 1, 7 do
  local r = 0.2 + random() * 0.4
  scene:add(Sphere.new(vec(random() * 6 - 3, r, random() * 6 - 3), r,
    { color = vec(random(), random(), random()), mirror = i % 3 == 0 and 0.4 or 0, gloss = i % 2 * 0.5 }))
end
for i = 1, 3 do
  local x, z = random() * 5 - 2.5, random() * 5 - 2.5
  scene:add(Box.new(vec(x, 0, z), vec(x + 0.7, 0.4 + i * 0.3, z + 0.5),
    { color = vec(random(), 0.5, random()), mirror = 0, gloss = 0.2 }))
end
scene.lights = {
  { position = vec(5, 6, -5), color = vec(0.7, 0.7, 0.6) },
  { position = vec(-6, 4, -3), color = vec(0.3, 0.3, 0.4) },
}

local WIDTH, HEIGHT = 240, 144
local a, b, total = 1, 0, 0
local picture, line = {}, {}
scene:render(vec(1.5, 2.5, -6), vec(0, 0.8, 0), WIDTH, HEIGHT, function(column, row, color)
  for _, axis in ipairs(AXES) do
    local byte = floor(min(color[axis], 1) * 255)
    total = total + byte
    a = (a + byte) % 65521
    b = (b + a) % 65521
  end
  if row % 12 == 0 and column % 3 == 0 then
    local level = floor(min(color.y, 0.99) * 10) + 1
    line[#line + 1] = (" .:-=+*#%@"):sub(level, level)
    if #line == WIDTH / 3 then
      picture[#picture + 1] = table.concat(line)
      line = {}
    end
  end
end)
print(table.concat(picture, "\n"))
print(string.format("sum %d, check %d:%d, rays %d, shadow rays %d", total, a, b, scene.rays, scene.shadows))
