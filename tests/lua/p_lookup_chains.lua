-- Lookups along chains of metatables: prototypes five deep, mixins, defaults, lazy fields, read-only views, enumerations.
local base = { level = 0, name = "base", greet = function(self) return "I am " .. self.name end }
local chain = { base }
for i = 2, 6 do chain[i] = setmetatable({ level = i - 1 }, { __index = chain[i - 1] }) end
local sum, greets = 0, 0
for i = 1, 120 do
  local object = chain[i % 6 + 1]
  sum = sum + object.level + #object:greet()
  if i == 50 then chain[3].name = "three" end
  if i == 80 then chain[3].name = nil chain[5].level = nil end
  if rawget(object, "name") then greets = greets + 1 end
end
print(sum, greets, chain[6]:greet(), chain[5].level)
local function mixin(class, ...)
  for _, part in ipairs { ... } do
    for k, v in pairs(part) do class[k] = v end
  end
  return class
end
local Movable = { move = function(self, dx) self.x = self.x + dx return self end }
local Named = { title = function(self) return self.kind .. "@" .. self.x end }
local function class(parent, ...)
  local c = mixin(setmetatable({}, { __index = parent, __call = function(c, x) return setmetatable({ x = x }, c) end }), ...)
  c.__index = c
  return c
end
local Thing = class(nil, Movable, Named)
Thing.kind = "thing"
local Ship = class(Thing)
Ship.kind = "ship"
function Ship:move(dx) return Thing.move(self, dx * 2) end
local Boat = class(Ship)
local fleet = { Thing(1), Ship(2), Boat(3) }
local titles = 0
for i = 1, 90 do titles = titles + #fleet[i % 3 + 1]:move(i % 5 - 1):title() end
print(titles, fleet[1]:title(), fleet[2]:title(), fleet[3]:title())
local computed = 0
local lazy = setmetatable({}, { __index = function(t, k)
  computed = computed + 1
  local v = type(k) == "number" and k * k or #k
  rawset(t, k, v)
  return v
end })
local total = 0
for i = 1, 150 do total = total + lazy[i % 20] + lazy["k" .. i % 7] end
print(total, computed)
local histogram = setmetatable({}, { __index = function() return 0 end })
for c in ("mississippi river banks"):rep(6):gmatch("%a") do histogram[c] = histogram[c] + 1 end
print(histogram.s, histogram.i, histogram.q, rawget(histogram, "q"))
local function read_only(t)
  return setmetatable({}, {
    __index = t, __len = function() return #t end, __pairs = function() return next, t, nil end,
    __newindex = function(_, k) error("'" .. tostring(k) .. "' is read-only", 2) end
  })
end
local view, refused = read_only { 10, 20, 30 }, 0
for i = 1, 60 do
  local ok, message = pcall(function() view[i % 4] = i end)
  if not ok then refused = refused + 1 end
  if i == 7 then print(message) end
  total = total + (view[i % 4] or 1) + #view
end
for k, v in pairs(view) do total = total + k * v end
print(refused, total)
local Enum = setmetatable({}, { __call = function(_, ...)
  local names, byname = { ... }, {}
  for i, n in ipairs(names) do byname[n] = i end
  return setmetatable({}, { __index = function(_, k) return names[k] or byname[k] or error("no such member: " .. tostring(k), 2) end })
end })
local Color, hits = Enum("red", "green", "blue"), 0
for i = 1, 75 do hits = hits + Color[Color[i % 3 + 1]] end
print(hits, Color.blue, Color[1], pcall(function() return Color.pink end))
local depth = 0
local deep = setmetatable({}, { __index = function(t, k) if k > 0 then depth = depth + 1 return t[k - 1] end return "ground" end })
for i = 1, 40 do assert(deep[i % 9] == "ground") end
print(depth)
local weird = setmetatable({}, { __index = "a string" })
local ok, bad = 0, 0
for i = 1, 60 do
  local fine, r = pcall(function() return i % 2 == 0 and weird.len or weird.missing end)
  if fine and r == string.len then ok = ok + 1 elseif fine and r == nil then bad = bad + 1 end
end
print(ok, bad)
local a, b = {}, {}
setmetatable(a, { __index = b }) setmetatable(b, { __index = a })
print(pcall(function() return a.x end))
local env = setmetatable({ limit = 90 }, { __index = _G })
print(load("local n = 0 for i = 1, limit do n = n + math.max(i, 40) counter = n end return n", "chunk", "t", env)(), env.counter, counter)
