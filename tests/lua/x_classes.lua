-- A class hierarchy three levels deep: inherited and overridden methods, super calls, __index functions, __tostring, __eq.
local Shape = {}
Shape.__index = Shape
Shape.__tostring = function(s) return s.kind .. "(" .. s:area() .. ")" end
Shape.__eq = function(a, b) return a:area() == b:area() end
Shape.__lt = function(a, b) return a:area() < b:area() end
Shape.__le = function(a, b) return a:area() <= b:area() end
Shape.__concat = function(a, b) return tostring(a) .. "&" .. tostring(b) end
function Shape.new(class, kind) return setmetatable({ kind = kind, count = 0 }, class) end
function Shape:area() self.count = self.count + 1; return 0 end
function Shape:double() return 2 * self:area() end
local function subclass(base)
  local c = {}
  for _, m in ipairs { "__tostring", "__eq", "__lt", "__le", "__concat" } do c[m] = base[m] end
  c.__index = c
  return setmetatable(c, { __index = base })
end
local Rect = subclass(Shape)
function Rect.new(w, h) local r = Shape.new(Rect, "rect"); r.w, r.h = w, h; return r end
function Rect:area() Shape.area(self); return self.w * self.h end
local Square = subclass(Rect)
function Square.new(w) local s = Rect.new(w, w); s.kind = "square"; return setmetatable(s, Square) end
function Square:grow(d) self.w = self.w + d; self.h = self.w; return self end
local shapes = { Shape.new(Shape, "none"), Rect.new(2, 3), Square.new(3), Rect.new(1.5, 2) }
local total = 0
for i = 1, 120 do
  local s = shapes[i % 4 + 1]
  total = total + s:area() + s:double()
  if i % 40 == 0 then shapes[3]:grow(1) end
end
print(total)
for _, s in ipairs(shapes) do print(tostring(s), s.count) end
local eq, lt, le = 0, 0, 0
for i = 1, 80 do
  local a, b = shapes[i % 4 + 1], shapes[i // 4 % 4 + 1]
  if a == b then eq = eq + 1 end
  if a < b then lt = lt + 1 end
  if a <= b then le = le + 1 end
end
print(eq, lt, le, shapes[1] .. shapes[2])
-- A method is replaced, then put into the object, while the loop runs.
local o, sum = Square.new(2), 0
for i = 1, 120 do
  if i == 40 then function Square:area() return 100 end end
  if i == 80 then o.area = function(self) return self.w end end
  if i == 100 then o.area = nil; Square.area = nil end
  sum = sum + o:area()
end
print(sum)
local proxy = setmetatable({}, { __index = function(_, k) return function(self, x) return #k + x end end })
local n = 0
for i = 1, 60 do n = n + proxy:abc(i) + proxy:z(1) end
print(n)
print(pcall(function() local s = 0 for i = 1, 60 do s = s + (i < 60 and o or {}):area() end end))
