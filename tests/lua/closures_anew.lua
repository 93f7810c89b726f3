-- Programs that make their functions anew each round: what was compiled for the first closures of a function
-- runs with others, as loops, as callees, as metamethods and in coroutines.

local function states(n)
  local steps = { idle = { go = "run", stop = "idle" }, run = { go = "run", stop = "halt" },
    halt = { go = "idle", stop = "halt" } }
  local events = { "go", "stop", "go", "go", "stop" }
  local function walk(count)
    local state, halts = "idle", 0
    for i = 1, count do
      state = steps[state][events[i % 5 + 1]]
      if state == "halt" then halts = halts + 1 end
    end
    return halts
  end
  return walk(n)
end

local function calls(n, k)
  local function add(x) return x + k end
  local function twice(x) return add(add(x)) end
  local sum = 0
  for i = 1, n do sum = sum + twice(i) end
  return sum
end

local function proxies(n, k)
  local store = { a = k }
  local proxy = setmetatable({}, { __index = function(_, key) return store[key] end,
    __newindex = function(_, key, v) store[key] = v + k end })
  local sum = 0
  for i = 1, n do proxy.a = i sum = sum + proxy.a end
  return sum, store.a
end

local function classes(n)
  local Base = {}
  Base.__index = Base
  function Base.new(x) return setmetatable({ x = x }, Base) end
  function Base:get() return self.x end
  local Derived = setmetatable({}, { __index = Base })
  Derived.__index = Derived
  function Derived.new(x) return setmetatable(Base.new(x), Derived) end
  function Derived:step() self.x = self.x + 1 end
  local o, sum = Derived.new(0), 0
  for _ = 1, n do o:step() sum = sum + o:get() end
  return sum
end

local function generators(n, k)
  local function numbers()
    for i = 1, n do coroutine.yield(i * k) end
  end
  local sum = 0
  for v in coroutine.wrap(numbers) do sum = sum + v end
  return sum
end

local function recursion(n, k)
  local function depth(i) if i == 0 then return k end return depth(i - 1) + 1 end
  local sum = 0
  for i = 1, n do sum = sum + depth(i % 10) end
  return sum
end

for round = 1, 12 do
  print(round, states(60 + round), calls(60, round), classes(60), generators(60, round))
  print(round, proxies(60, round))
  print(round, recursion(60, round))
end

-- Two closures of one function in turn, and one that comes late.
local function make(k) return function(n) local s = 0 for i = 1, n do s = s + i * k end return s end end
local one = make(1)
for _ = 1, 40 do one(50) end
local two = make(2)
local sum = 0
for i = 1, 60 do sum = sum + (i % 2 == 0 and one or two)(50) end
print(sum, one(10), two(10))
