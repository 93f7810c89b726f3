-- Recursion through methods: a tree of objects of three classes, calls of the parent class's method, methods
-- that are added and taken away while objects of the class are at work.
local Shape = {}
Shape.__index = Shape
function Shape.new(class, fields) return setmetatable(fields or {}, class) end
function Shape:area() return 0 end
function Shape:depth() return 1 end
function Shape:walk(f, level) f(self, level or 1) end

local Box = setmetatable({}, Shape)
Box.__index = Box
function Box:area() return self.w * self.h end

local Group = setmetatable({}, Shape)
Group.__index = Group
function Group:area()
  local sum = Shape.area(self)
  for i = 1, #self do sum = sum + self[i]:area() end
  return sum
end
function Group:depth()
  local deepest = 0
  for _, part in ipairs(self) do
    local d = part:depth()
    if d > deepest then deepest = d end
  end
  return deepest + Shape.depth(self)
end
function Group:walk(f, level)
  level = level or 1
  Shape.walk(self, f, level)
  for i = #self, 1, -1 do self[i]:walk(f, level + 1) end
end

local function build(n, width)
  if n == 0 then return Shape.new(Box, { w = width, h = width % 2 == 0 and 2 or 1.5 }) end
  local g = Shape.new(Group)
  for i = 1, width do g[i] = build(n - 1, (width + i) % 3 + 1) end
  return g
end

local trees = {}
for n = 1, 5 do trees[n] = build(n, 3) end
for round = 1, 4 do
  for n, t in ipairs(trees) do
    local count, levels = 0, 0
    t:walk(function(_, level) count = count + 1 levels = levels + level end)
    print(round, n, t:area(), t:depth(), count, levels)
  end
  if round == 1 then
    function Box:area() return 1 end
  elseif round == 2 then
    Box.area = nil
    function Shape:area() return 0.25 end
  elseif round == 3 then
    local plain = Group.area
    function Group:area(n)
      n = n or 1
      if n > 2 then return 0 end
      return plain(self) + Group.area(self, n + 1)
    end
  end
end

-- Methods that hand on to another object, up to a limit; the receiver changes its class on the way.
local Ping, Pong = {}, {}
Ping.__index, Pong.__index = Ping, Pong
function Ping:hit(n)
  if n == 0 then return self.score end
  self.score = self.score + 1
  return self.other:hit(n - 1)
end
function Pong:hit(n)
  if n == 0 then return -self.score end
  self.score = self.score + 2
  local r = self.other:hit(n - 1)
  return r
end
local p, q = setmetatable({ score = 0 }, Ping), setmetatable({ score = 0 }, Pong)
p.other, q.other = q, p
for n = 1, 200 do
  local a, b = p:hit(n % 40), q:hit(n % 30)
  if n % 25 == 0 then
    print(n, a, b, p.score, q.score)
    setmetatable(p, n % 50 == 0 and Ping or Pong)
  end
end
q.other = {}
print(pcall(p.hit, p, 5))
print(pcall(q.hit, q, 1))
