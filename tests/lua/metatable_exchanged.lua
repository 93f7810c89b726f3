-- Metatables that are exchanged for others or for none, and library functions on lists that have one.

local Animal = {}
Animal.__index = Animal
function Animal.new(name) local self = setmetatable({}, Animal) self.name = name return self end
function Animal:legs() return 4 end

local Bird = setmetatable({}, { __index = Animal })
Bird.__index = Bird
function Bird.new(name) return setmetatable(Animal.new(name), Bird) end
function Bird:legs() return 2 end

local sum = 0
for i = 1, 300 do
  local a = i % 3 == 0 and Bird.new("b" .. i) or Animal.new("a")
  sum = sum + a:legs() + #a.name
end
print(sum)

-- To none and back; the object is seen by others.
local kept = {}
for i = 1, 200 do
  local a = Bird.new("x")
  if i % 2 == 0 then setmetatable(a, nil) end
  kept[i % 7] = a
  if i % 50 == 0 then setmetatable(a, Animal) print(a:legs(), getmetatable(a) == Animal) end
end
for i = 0, 6 do print(i, getmetatable(kept[i]) == Bird, getmetatable(kept[i]) ~= nil) end

-- A metatable becomes protected in the middle.
local Guarded = { __index = Animal }
local function swap(o, m) return setmetatable(o, m) end
local ok, message = 0, nil
for i = 1, 200 do
  local o = setmetatable({}, Guarded)
  if i == 150 then Guarded.__metatable = "locked" end
  local done, what = pcall(swap, o, Bird)
  if done then ok = ok + 1 else message = what end
end
print(ok, message)

-- Lists with a class.
local Stack = {}
Stack.__index = Stack
function Stack.new() return setmetatable({}, Stack) end
function Stack:push(x) table.insert(self, x) end
function Stack:pop() return table.remove(self) end
function Stack:all() return table.unpack(self) end
local s = Stack.new()
local got = 0
for i = 1, 300 do
  s:push(i) s:push(-i)
  if i % 3 == 0 then got = got + s:pop() + s:pop() end
end
print(#s, got, s[1], s[#s])

-- Metamethods that come in the middle.
local log = {}
local List = {}
local list = setmetatable({}, List)
for i = 1, 200 do
  if i == 100 then List.__newindex = function(t, k, v) log[#log + 1] = k rawset(t, k, v) end end
  if i == 150 then List.__newindex = nil List.__len = function() return 10 end end
  if i == 180 then List.__len = nil end
  table.insert(list, i)
end
print(#list, #log, log[1], log[#log], list[11])
local taken = 0
for i = 1, 60 do
  if i == 40 then List.__index = function(_, k) return 1000 end end
  taken = taken + table.remove(list)
end
print(taken, #list)
List.__index = nil
local few = setmetatable({ 1, 2, 3 }, List)
local n = 0
for i = 1, 200 do
  if i == 120 then List.__index = function(_, k) return 50 end List.__len = function() return 4 end end
  local a, b, c, d = table.unpack(few)
  n = n + a + b + c + (d or 0)
end
print(n)
