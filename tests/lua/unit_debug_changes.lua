-- debug.setlocal on levels of a recursion, debug.setupvalue, debug.upvaluejoin and debug.setmetatable on what
-- it uses, while it runs.
local act
local function down(n, x)
  local y = x + 1
  if n == 0 then if act then act() end return y end
  local r = down(n - 1, y)
  return r + x
end
for i = 1, 25 do down(i % 8, i) end
local function set(level, which, value)
  act = function() debug.setlocal(level + 2, which, value) end
  print(level, which, type(value), pcall(down, 6, 1))
  act = nil
  print(down(6, 1), down(6, 0.5))
end
for level = 0, 6, 2 do
  set(level, 2, 100)
  set(level, 2, 0.25)
  set(level, 2, "8")
  set(level, 3, 50)
  set(level, 2, {})
  set(level, 1, 1)
end

local step, other = 1, 1000
local function walk(n)
  if n == 0 then if act then act() end return 0 end
  return walk(n - 1) + step
end
local function another() return other end
for i = 1, 25 do walk(i % 8) end
local function index(f, name)
  for i = 1, 9 do if debug.getupvalue(f, i) == name then return i end end
end
for _, value in ipairs { 2, 2.5, "3" } do
  act = function() debug.setupvalue(walk, index(walk, "step"), value) end
  print(walk(6), step)
  act = nil
  print(walk(6), walk(3))
end
act = function() debug.upvaluejoin(walk, index(walk, "step"), another, 1) end
print(walk(5))
act = nil
print(walk(5), step, other)
other = 1
print(walk(5))

-- Itself as an upvalue.
local self
self = function(n) if n == 0 then if act then act() end return 0 end return self(n - 1) + 1 end
for i = 1, 25 do self(i % 8) end
local mine = self
act = function() debug.setupvalue(mine, index(mine, "self"), function(n) return n * 100 end) end
print(mine(6))
act = nil
print(mine(6), self == mine)
self = mine
print(mine(6))

debug.setmetatable(0, { __index = function(n, k) return n + k end, __len = function(n) return n * 2 end })
local function numbers(n) if n == 0 then return 0 end return numbers(n - 1) + (n)[1] + #n end
for i = 1, 20 do io.write(numbers(i), " ") end
print()
debug.setmetatable(0, nil)
print((pcall(numbers, 3)))
