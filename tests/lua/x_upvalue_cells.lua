-- Upvalues shared by several closures, opened and closed in loops, counters of several generations, joined and replaced.
local function counter() local n = 0 return function() n = n + 1; return n end, function(v) n = v end, function() return n end end
local inc, set, get = counter()
local s = 0
for i = 1, 120 do
  s = s + inc()
  if i == 50 then set(0.5) elseif i == 90 then set(-100) end
end
print(s, get())
local pool = {}
for i = 1, 6 do pool[i] = { counter() } end
for i = 1, 120 do pool[i % 6 + 1][1](); if i % 17 == 0 then pool[i % 6 + 1][2](i) end end
local line = {}
for i = 1, 6 do line[i] = pool[i][3]() end
print(table.concat(line, " "))
local function make(i)
  local v = i
  local function up() v = v + 1 return v end
  local function deep() local function deeper() v = v * 2 return v end return deeper() end
  return up, deep
end
local t = 0
for i = 1, 60 do local u, d = make(i); t = t + u() + d() + u() end
print(t)
-- A local that is captured half way through the loop.
local grab, total = nil, 0
do
  local x = 0
  for i = 1, 100 do
    x = x + 1
    if i == 50 then grab = function() x = x + 1000; return x end end
    if grab and i % 10 == 0 then grab() end
    total = total + x
  end
  print(x, total, grab())
end
-- The loop's variable captured in some rounds only.
local fs = {}
for i = 1, 90 do if i % 30 == 0 then fs[#fs + 1] = function(d) i = i + d; return i end end end
print(fs[1](1), fs[1](1), fs[2](0), fs[3](0.5))
local function nested()
  local a = 0
  local function l1() local b = a; local function l2() a = a + b + 1; b = b + 1; return a, b end return l2 end
  local f = l1()
  local r = 0
  for i = 1, 60 do local p, q = f(); r = (r + p * q) % 1000003; if i % 20 == 0 then f = l1() end end
  return r, a
end
print(nested())
local f1, f2 = (function() local x = 1 return function() return x end end)(), (function() local x = 100 return function() return x end end)()
local j = 0
for i = 1, 90 do
  if i == 45 then debug.upvaluejoin(f1, 1, f2, 1) end
  if i == 70 then debug.setupvalue(f2, 1, 7.5) end
  j = j + f1() + f2()
end
print(j)
local env = { y = 5 }
local chunk = load("local s = 0 for i = 1, 60 do s = s + y; if i == 30 then y = 7 end end return s", "c", "t", env)
print(chunk(), env.y, chunk())
local _ENV = setmetatable({ z = 1 }, { __index = _ENV })
local g = 0
for i = 1, 60 do z = z + 1; g = g + z; if i == 30 then _ENV = setmetatable({ z = 0.5 }, { __index = _ENV }) end end
print(g, z)
