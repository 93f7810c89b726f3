-- Code keeps nothing alive, and does not take a new closure for an old one at its address.
local weak = setmetatable({}, { __mode = "v" })
local finalized = 0
do
  local held = setmetatable({ n = 3 }, { __gc = function () finalized = finalized + 1 end })
  weak[1] = held
  local function use(x) return x + held.n end
  weak[2] = use
  local s = 0
  for i = 1, 1500 do s = s + use(i) end
  print(s)
end
local function clean() collectgarbage() collectgarbage() end
local a, b, c = 1, 2, 3  -- over the registers of the block
clean()
print(weak[1], weak[2], finalized)

local sum = 0
for n = 1, 60 do
  local chunk = load("local k = " .. n .. " local function f(x) return x * k end "
                     .. "local s = 0 for i = 1, 60 do s = s + f(i) end return s")
  sum = sum + chunk()
  if n % 7 == 0 then collectgarbage() end
end
print(sum)

-- one function, closures that die
local function make(n) return function (x) return x + n end end
local t = 0
for n = 1, 200 do
  local f = make(n)
  for i = 1, 20 do t = t + f(i) end
  f = nil
  if n % 5 == 0 then collectgarbage("step", 200) end
end
print(t)

-- without debug information nothing is known of variables
local stripped = load(string.dump(load([[
  local k, n = 4, 0
  local function f(x) return x * k end
  local function g() n = n + 1 return n end
  local s = 0
  for i = 1, 500 do s = s + f(i) + g() end
  return s, n]]), true))
print(stripped())
-- a dumped function gets new upvalues
local up = 5
local function with_up(x) return (up or 0) + x end
local u = 0
for i = 1, 600 do u = u + with_up(i) end
local copy = load(string.dump(with_up))
debug.setupvalue(copy, 1, 1000)
for i = 1, 600 do u = u + copy(i) end
debug.setupvalue(copy, 1, 2000)
for i = 1, 600 do u = u + copy(i) end
print(u)
-- an environment of its own
local env = setmetatable({}, { __index = _G })
local chunk = load("x = 0 for i = 1, 500 do x = x + i end return x", "c", "t", env)
print(chunk(), env.x, x)
