-- Closures and the collector: captured tables live as long as a closure, weak tables with closures as keys
-- and values, closures that hold one another in a circle, finalizers as closures, and steps in hot loops.
local weak = setmetatable({}, { __mode = "v" })
local function holder(i)
  local t = { i }
  weak[i] = t
  return function() t[1] = t[1] + 1 return t[1] end
end
local function alive()
  local n = 0
  for i = 1, 40 do if weak[i] then n = n + 1 end end
  return n
end
local fs = {}
for i = 1, 40 do fs[i] = holder(i) end
collectgarbage()
print(alive(), fs[1](), fs[40]())
for i = 2, 40, 2 do fs[i] = nil end
collectgarbage()
print(alive(), fs[1](), weak[1][1])
fs = {}
collectgarbage()
print(alive())

-- Circles of closures, of which only some are held from outside.
local members = setmetatable({}, { __mode = "k" })
local function circle(n)
  local list = {}
  for i = 1, n do
    list[i] = function(k)
      if k == 0 then return i end
      return list[i % n + 1](k - 1)
    end
    members[list[i]] = i
  end
  return list[1]
end
local function count()
  local c, s = 0, 0
  for _, v in pairs(members) do c, s = c + 1, s + v end
  return c, s
end
local function circles()
  local kept = circle(7)
  for i = 1, 12 do circle(i)(i) end
  return kept
end
local kept = circles()
collectgarbage()
print(count())
print(kept(10), kept(700))
kept = nil
collectgarbage()
print(count())

-- Variables that a closure has lost: set to nil by itself, by another closure, by a debug function.
local function slots(i)
  local a, b = { i }, { -i }
  weak[i], weak[i + 20] = a, b
  local f = function(drop) if drop then a = nil end return a, b end
  local g = function() b = nil end
  return f, g
end
local list = {}
for i = 1, 20 do
  local f, g = slots(i)
  list[i] = f
  if i % 2 == 0 then f(true) end
  if i % 5 == 0 then g() end
  if i == 7 then debug.setupvalue(f, 1, nil) end
end
collectgarbage()
print(alive())
local some = 0
for i = 1, 20 do
  local a, b = list[i]()
  some = some + (a and a[1] or 0) + (b and b[1] or 0.5)
end
print(some)

-- Garbage in a loop whose closures capture tables; steps of the collector at each iteration.
local function churn(n)
  local s, last = 0, nil
  for i = 1, n do
    local t = { i, i + 1 }
    local f = function() t[1] = t[1] + t[2] return t[1] end
    s = s + f()
    if i % 20 == 10 then last = f end
    if i % 7 == 0 then collectgarbage("step") end
    if last and i % 3 == 0 then s = s + last() end
    if i % 20 ~= 10 then t = nil end
    if i % 8 == 0 then s = s + (pcall(f) and 1 or 0) end
  end
  return s
end
for n = 10, 130, 60 do print(n, churn(n)) end

-- Finalizers that are closures over counters, over other objects, and over a function of the loop.
local order, finished = {}, 0
local function tracked(i)
  local name = "o" .. i
  local o = setmetatable({}, { __gc = function()
    finished = finished + 1
    order[#order + 1] = name
  end })
  return function() return o and name end
end
local names = {}
for i = 1, 30 do names[i] = tracked(i) end
local text = 0
for i = 1, 30 do text = text + #names[i]() end
names = nil
collectgarbage()
collectgarbage()
table.sort(order)
print(text, finished, #order, order[1], order[30])
