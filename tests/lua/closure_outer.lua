-- Closures made in loops, whose variables are those of a function further out, or none at all.
local total, list = 0, {}
local function make(n)
  for i = 1, n do list[i] = function(x) total = total + x return total end end
end
make(90)
for i = 1, 90 do list[i](i) end
print(total, list[1] == list[2])
local function constant(n)
  local s = 0
  for i = 1, n do local f = function() return 2 end s = s + f() end
  return s
end
print(constant(90))
-- called at once, passed on, returned
local function apply(f, x) return f(x) end
local function calls(n)
  for i = 1, n do apply(function(x) total = total + x end, i) end
end
calls(90)
print(total)
local function adder() return function(x) total = total - x return x end end
local function adders(n)
  local s = 0
  for i = 1, n do s = s + adder()(i) end
  return s
end
print(adders(90), total)
-- two closures share a variable, and the variable lives on
local function pair()
  local n = 0
  local function both()
    local up, get
    for i = 1, 70 do
      up, get = function(x) n = n + x end, function() return n end
      up(i)
    end
    return up, get
  end
  return both()
end
local up, get = pair()
up(1000)
print(get())
-- closures of closures, and those over registers, which are not compiled
local function deep()
  local s = 0
  for i = 1, 70 do
    local f = function() return function(x) total = total + x return total end end
    s = s + f()(1)
  end
  return s
end
print(deep(), total)
local function over(n)
  local fs = {}
  for i = 1, n do local k = i * 2 fs[i] = function() k = k + 1 return k end end
  return fs
end
local fs, s = over(70), 0
for i = 1, 70 do s = s + fs[i]() + fs[i]() end
print(s)
-- the collector runs while they are made and held
local function many()
  local held, n = {}, 0
  for i = 1, 300 do
    held[i % 10 + 1] = function(x) total = total + x return x end
    if i % 97 == 0 then collectgarbage() end
    n = n + held[i % 10 + 1](i)
  end
  return n
end
print(many(), total)
local weak = setmetatable({}, { __mode = "v" })
local function weakly() for i = 1, 80 do weak[i] = function() return total end end end
weakly()
collectgarbage() collectgarbage()
print(next(weak))
-- errors inside have their names and lines
local function fails(n)
  for i = 1, n do
    local f = function(x) if x == 66 then return total + nil end return x end
    total = total + f(i)
  end
end
print(select(2, xpcall(fails, debug.traceback, 90)))
-- methods and metamethods made in loops
local function class()
  local sum = 0
  for i = 1, 70 do
    local methods = { value = function(self) return self.n + total % 3 end }
    methods.n = i
    sum = sum + methods:value()
  end
  return sum
end
print(class())
