-- Loops whose objects never come into being, as nobody sees them, still drive the collector: each waits for it.
local finish
local function start()
  finish = false
  setmetatable({}, { __gc = function() finish = true end })
end

local function plain()
  local u
  repeat u = {} until finish
  return #u
end

local function read_again()
  local n = 0
  while not finish do local t = { n }; n = t[1] + 1 end
  return n > 0
end

-- The inner loop makes them, in few iterations for each entry.
local function inner_loop()
  local n = 0
  repeat
    for i = 1, 5 do local t = { i }; n = n + t[1] end
  until finish
  return n % 15
end

local function inner_loop_of_any_length()
  local n, s = 0, 0
  repeat
    n = n + 1
    for i = 1, n % 40 do local t = { i }; s = s + t[1] - i end
  until finish
  return s
end

-- Only a side trace makes them.
local function seldom()
  local n, s = 0, 0
  repeat
    n = n + 1
    if n % 3 == 0 then local t = { n }; s = s + t[1] - n end
  until finish
  return s
end

local function in_calls()
  local function box(v) return { value = v } end
  local n = 0
  repeat n = box(n).value + 1 until finish
  return n > 0
end

local function methods()
  local Point = {}
  Point.__index = Point
  function Point.moved(p) return setmetatable({ x = p.x + 1 }, Point) end
  local p = setmetatable({ x = 0 }, Point)
  repeat p = p:moved() until finish
  return p.x > 0
end

local function variable_arguments()
  local function second(...) local t = { ... }; return t[2] end
  local n = 0
  repeat n = n + second(n, 1) until finish
  return n > 0
end

local function closures()
  local n = 0
  repeat
    local function one() return 1 end
    n = n + one()
  until finish
  return n > 0
end

local function strings()
  local n, s = 0
  repeat s = "k" .. n; n = n + 1 until finish
  return s == "k" .. n - 1
end

local function unused_strings()
  local n = 0
  repeat local s = n .. "k"; n = n + 1 until finish
  return n > 0
end

-- Beside them there is a call that may make objects, but makes none.
local function with_calls()
  local n, text = 0, "abc"
  repeat local t = { n }; n = t[1] + #text:sub(2, 2) until finish
  return n > 0
end

local function in_a_coroutine()
  return coroutine.wrap(function()
    local n = 0
    repeat local t = { n }; n = t[1] + 1 until finish
    return n > 0
  end)()
end

local function for_loops()
  local n = 0
  while not finish do
    for i = 1, 3 do local t = { i }; n = n + t[1] end
  end
  return n % 6
end

for _, case in ipairs {
  { "plain", plain }, { "read again", read_again }, { "inner loop", inner_loop }, { "inner loop of any length", inner_loop_of_any_length },
  { "seldom", seldom }, { "in calls", in_calls }, { "methods", methods }, { "variable arguments", variable_arguments },
  { "closures", closures }, { "strings", strings }, { "unused strings", unused_strings }, { "with calls", with_calls },
  { "in a coroutine", in_a_coroutine }, { "for loops", for_loops },
} do
  start()
  print(case[1], case[2]())
end

-- Weak tables, by their values and by their keys.
local weak = setmetatable({ {} }, { __mode = "v" })
local n = 0
while weak[1] do local t = { n }; n = t[1] + 1 end
print("weak value", weak[1])
weak = setmetatable({ [{}] = 1 }, { __mode = "k" })
while next(weak) do local t = { n }; n = t[1] + 1 end
print("weak key", next(weak))

-- Where the program has stopped the collector it stays stopped.
start()
collectgarbage("stop")
for i = 1, 300000 do local t = { i }; n = n + t[1] end
print("stopped", finish)
collectgarbage("restart")
