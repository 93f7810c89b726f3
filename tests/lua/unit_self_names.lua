-- How a function names itself: a local, a global, a method, a field, an upvalue that is another one later; a
-- second closure of the same function; and functions that are replaced while they run.
local function by_local(n) if n == 0 then return 0 end return by_local(n - 1) + 1 end
function by_global(n) if n == 0 then return 0 end return by_global(n - 1) + 2 end
local object = { step = 3 }
function object:method(n) if n == 0 then return 0 end return self:method(n - 1) + self.step end
local module = {}
function module.field(n) if n == 0 then return 0 end return module.field(n - 1) + 4 end
local later
later = function(n) if n == 0 then return 0 end return later(n - 1) + 5 end
for i = 1, 24 do
  print(by_local(i), by_global(i), object:method(i), module.field(i), later(i))
end

-- Others take their places.
local old = { by_global, object.method, module.field, later }
function by_global(n) return n * 100 end
function object.method(_, n) return n * 200 end
function module.field(n) return n * 300 end
later = function(n) return n * 400 end
print(old[1](5), old[2](object, 5), old[3](5), old[4](5))
by_global, object.method, module.field, later = old[1], old[2], old[3], old[4]
print(by_global(5), object:method(5), module.field(5), later(5))

-- Methods of another object, with another step, and an inherited one.
local other = setmetatable({ step = 0.5 }, { __index = object })
for n = 1, 9, 4 do print(other:method(n), object:method(n)) end

-- Closures of one function.
local function make(step)
  local function self(n) if n == 0 then return 0 end return self(n - 1) + step end
  return self
end
local one, two = make(1), make(2.5)
for i = 1, 20 do io.write(one(i), " ", two(i), i % 5 == 0 and "\n" or " ") end

-- Replaced in the middle of a recursion, at one level of it.
local count, replaced = 0
local function first(n)
  count = count + 1
  if n == 0 then return 0 end
  return replaced(n - 1) + 1
end
local function second(n)
  if n == 0 then return 0.5 end
  replaced = first
  return replaced(n - 1) + 1000
end
replaced = first
for i = 1, 30 do
  if i % 6 == 0 then replaced = second end
  io.write(replaced(i % 8), " ", first(i % 5), i % 6 == 0 and "\n" or " ")
end
print(count)
function swap(n)
  if n == 0 then return 0 end
  if n == 7 then local mine = swap; function swap(m) swap = mine return m * 10 end end
  return swap(n - 1) + 1
end
for i = 1, 20 do io.write(swap(i), " ") end
print()
