-- Objects made by 'setmetatable', and what 'getmetatable' says.
local Point = {}
Point.__index = Point
function Point.new (x, y) return setmetatable({ x = x, y = y }, Point) end
function Point:plus (other) return Point.new(self.x + other.x, self.y + other.y) end
function Point:length2 () return self.x * self.x + self.y * self.y end

-- dropped in the iteration that makes it
local sum = 0
for i = 1, 200 do
  local p = Point.new(i, i + 1)
  sum = sum + p:length2()
end
print(sum)
-- carried over the back edge, and kept at the end
local at = Point.new(0, 0)
for i = 1, 200 do at = at:plus(Point.new(i, 1)) end
print(at.x, at.y, getmetatable(at) == Point, at:length2())
-- kept in a list, with a class that changes on the way
local Other = { __index = { length2 = function () return -1 end } }
local list = {}
for i = 1, 200 do
  list[i] = setmetatable({ x = i, y = 0 }, i > 150 and Other or Point)
end
print(list[1]:length2(), list[150]:length2(), list[151]:length2(), getmetatable(list[200]) == Other)

-- a finalizer that comes while the loop runs, and objects of another class after that: no object may lose its own
local finalized = 0
local Resource, Plain = { __index = {} }, { __index = {} }
local function use ()
  for i = 1, 150 do
    if i == 100 then Resource.__gc = function () finalized = finalized + 1 end end
    local r = setmetatable({ id = i }, i <= 120 and Resource or Plain)
  end
end
use()
collectgarbage()
print(finalized)
-- and one that is there but false, which marks nothing
local Odd = { __gc = false }
for i = 1, 100 do local o = setmetatable({}, Odd) end
collectgarbage()

-- protected metatables, and tables that have one already
local guarded = setmetatable({}, { __metatable = "hands off" })
local answers = {}
for i = 1, 120 do
  local o = i < 80 and Point.new(i, i) or i < 100 and guarded or {}
  local m = getmetatable(o)
  local answer = m == Point and "Point" or tostring(m)
  answers[answer] = (answers[answer] or 0) + 1
  if i == 70 then Point.__metatable = nil end
end
print(answers.Point, answers["hands off"], answers["nil"])
Point.__metatable = "closed"
local open = 0
for i = 1, 100 do
  if getmetatable(at) == "closed" then open = open + 1 end
  if i == 60 then Point.__metatable = nil end
end
print(open)
print(pcall(function ()
  for i = 1, 100 do
    local o = i == 90 and guarded or {}
    setmetatable(o, Point)
  end
end))
local changes = 0
for i = 1, 100 do
  local o = setmetatable({}, Point)
  setmetatable(o, i % 10 == 0 and Other or nil)
  if getmetatable(o) == Other then changes = changes + 1 end
  if getmetatable(setmetatable({}, nil)) == nil then changes = changes + 100 end
  local own = {}
  if getmetatable(setmetatable(own, own)) == own then changes = changes + 10000 end
end
print(changes)
print(pcall(function () for i = 1, 100 do setmetatable({}, i < 90 and Point or i) end end))
print(pcall(function () for i = 1, 100 do setmetatable(i < 90 and {} or i, Point) end end))
print(pcall(function () for i = 1, 100 do if i < 90 then getmetatable(i) else getmetatable() end end end))

-- types that share one metatable
local strings = 0
for i = 1, 100 do
  if getmetatable("s" .. i) == getmetatable("") then strings = strings + 1 end
  if getmetatable(i) == nil and getmetatable(nil) == nil and getmetatable(print) == nil then strings = strings + 1000 end
  if i == 50 then debug.setmetatable(print, Point) end
end
debug.setmetatable(print, nil)
print(strings)

-- a metatable given in a loop while the collector is at work, so that barriers matter
local classes, keep = {}, {}
for i = 1, 300 do
  local class = { __index = { tag = i } }
  local o = keep[i % 20 + 1]
  if o == nil or getmetatable(o) then o = {} end
  keep[i % 20 + 1] = setmetatable(o, class)
  local bare = {}
  keep[(i + 7) % 20 + 1] = bare
  if i % 16 == 0 then collectgarbage("step", 1) end
end
local tags = 0
for _, o in pairs(keep) do tags = tags + (o.tag or 0) end
print(tags)
local old = {}
for i = 1, 200 do old[i] = {} end
collectgarbage()
for i = 1, 200 do setmetatable(old[i], { __index = { n = i } }) end
collectgarbage()
local last = 0
for i = 1, 200 do last = last + old[i].n end
print(last)
