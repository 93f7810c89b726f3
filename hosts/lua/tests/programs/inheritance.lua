-- Classes with inheritance, dispatch to several receivers, a small event loop, memoization.
local function class(parent)
  local c = {}
  c.__index = c
  c.new = function(...) local o = setmetatable({}, c); if o.init then o:init(...) end return o end
  return setmetatable(c, { __index = parent })
end
local Shape = class()
function Shape:init(name) self.name = name end
function Shape:area() return 0 end
function Shape:describe() return self.name .. "=" .. string.format("%.2f", self:area()) end
local Circle = class(Shape)
function Circle:init(r) Shape.init(self, "circle"); self.r = r end
function Circle:area() return math.pi * self.r ^ 2 end
local Rectangle = class(Shape)
function Rectangle:init(w, h) Shape.init(self, "rectangle"); self.w, self.h = w, h end
function Rectangle:area() return self.w * self.h end
local Square = class(Rectangle)
function Square:init(s) Rectangle.init(self, s, s); self.name = "square" end
local shapes = {}
for i = 1, 30 do
  local kind = i % 4
  shapes[i] = kind == 0 and Circle.new(i) or kind == 1 and Rectangle.new(i, i + 1) or kind == 2 and Square.new(i) or Shape.new("shape" .. i)
end
local total, text = 0, {}
for round = 1, 4 do
  for i, shape in ipairs(shapes) do
    total = total + shape:area() * round
    if round == 1 then text[#text + 1] = shape:describe() end
  end
end
print(string.format("%.3f", total), table.concat(text, " "))
local memo = {}
local function ways(n, k)
  if n == 0 then return 1 end
  if n < 0 or k == 0 then return 0 end
  local key = n * 100 + k
  local known = memo[key]
  if known then return known end
  local result = ways(n - k, k) + ways(n, k - 1)
  memo[key] = result
  return result
end
for n = 5, 60, 11 do print(n, ways(n, n)) end
local handlers, time, queue = {}, 0, {}
local function at(delay, name, ...) queue[#queue + 1] = { time + delay, name, ... } end
function handlers.tick(n) if n > 0 then at(3, "tick", n - 1); at(1, "tock", n) end end
function handlers.tock(n) total = total + n; if n % 2 == 0 then at(2, "tick", n // 3) end end
at(0, "tick", 25)
local processed = 0
while #queue > 0 do
  table.sort(queue, function(a, b) if a[1] ~= b[1] then return a[1] < b[1] end return a[2] .. a[3] < b[2] .. b[3] end)
  local event = table.remove(queue, 1)
  time = event[1]
  handlers[event[2]](table.unpack(event, 3))
  processed = processed + 1
end
print(processed, time, string.format("%.3f", total))
