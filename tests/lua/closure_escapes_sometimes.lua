-- Closures made in hot loops that escape now and then: stored in a table, returned, given to a coroutine,
-- kept as an upvalue of another closure, or thrown as an error; those that do not escape need not exist.
local kept = {}
local function run(n, every)
  local s = 0
  for i = 1, n do
    local x = i
    local f = function(d) x = x + d return x end
    s = s + f(1)
    if i % every == 0 then kept[#kept + 1] = f end
    s = s + f(0.5) - x
  end
  return s
end
for _, every in ipairs { 1000, 97, 30, 7 } do print(every, run(300, every), #kept) end
local sum = 0
for round = 1, 3 do
  for i, f in ipairs(kept) do sum = sum + f(i) end
end
print(sum, kept[1](0), kept[#kept](0))

local function search(t, test)
  for i = 1, #t do
    local v = t[i]
    local found = function() return i, v end
    if test(v) then return found end
  end
  return function() return 0 end
end
local t = {}
for i = 1, 150 do t[i] = (i * 37) % 151 end
for goal = 0, 150, 25 do
  local f = search(t, function(v) return v == goal end)
  print(goal, f())
end

-- The escape is through another closure, which is itself dropped mostly.
local holder
local function layered(n)
  local total = 0
  for i = 1, n do
    local a = i
    local inner = function() a = a + 1 return a end
    local outer = function() return inner() + inner() end
    total = total + outer()
    if i % 41 == 0 then holder = outer end
  end
  return total
end
for n = 40, 240, 50 do print(n, layered(n), holder and holder(), holder and holder()) end

-- As an error value, and out of a protected call.
local function thrower(i)
  local x = i
  local f = function() x = x * 2 return x end
  if i % 50 == 0 then error(f) end
  return f()
end
local caught = {}
sum = 0
for i = 1, 400 do
  local ok, v = pcall(thrower, i)
  if ok then sum = sum + v else caught[#caught + 1] = v end
end
print(sum, #caught, caught[1](), caught[8](), caught[8]())

-- To a coroutine, which calls it later.
local co = coroutine.wrap(function(f)
  local g = f
  while true do
    local h = coroutine.yield(g and g() or 0)
    if h then g = h end
  end
end)
sum = 0
for i = 1, 300 do
  local x = i
  local f = function() x = x + 0.25 return x end
  sum = sum + f()
  sum = sum + co(i % 60 == 1 and f or nil)
end
print(sum)

-- A closure that puts itself into a table, and one that takes itself out.
local registry, n = {}, 0
local function register(i)
  local me
  me = function(again)
    n = n + 1
    if again then registry[i] = me else registry[i] = nil end
    return i + n
  end
  return me(i % 3 == 0)
end
for i = 1, 90 do register(i) end
sum = 0
for i = 1, 90 do
  if registry[i] then sum = sum + registry[i](i % 2 == 0) end
end
local left = 0
for i = 1, 90 do left = left + (registry[i] and i or 0) end
print(sum, left, n)
