-- Garbage made at each depth, with collections deep in the stack: tables that only one level holds, texts
-- that are built on the way up, closures, coroutines and finalizers that run while the recursion goes on.
local function build(n)
  if n == 0 then return { depth = 0 } end
  local mine = { n, n * 0.5, tostring(n) }
  local below = build(n - 1)
  if n % 60 == 0 then collectgarbage() end
  below.depth = below.depth + #mine
  below[n] = mine
  return below
end
for _, n in ipairs { 30, 120, 240 } do
  local t = build(n)
  local s = 0
  for i = 1, n do s = s + t[i][1] + t[i][2] + #t[i][3] end
  print(n, t.depth, #t, s)
end

local function texts(n, kept)
  if n == 0 then return "" end
  local s = "s" .. n
  local f = function() return s .. kept end
  local r = texts(n - 1, kept)
  if n % 25 == 0 then collectgarbage("step") end
  if n % 10 == 0 then return f() .. #r end
  return r .. f():sub(1, 1)
end
for n = 10, 100, 30 do print(n, texts(n, "k" .. n)) end

-- Finalizers are called somewhere in a recursion; all have been in the end, each once.
local runs, seen = 0, {}
local function recurse(n) if n == 0 then return 0 end return 1 + recurse(n - 1) end
local function drop(i)
  setmetatable({}, { __gc = function()
    runs = runs + recurse(i % 7)
    seen[i] = (seen[i] or 0) + 1
  end })
end
local function dropping(n)
  drop(n)
  if n % 16 == 0 then collectgarbage("step") end
  if n == 0 then return 0 end
  local x = n
  local r = dropping(n - 1)
  return r + x
end
print(dropping(100), dropping(20) > 0)
for i = 1, 4 do collectgarbage() end
local once, twice = 0, 0
for i = 0, 100 do
  if seen[i] == 1 then once = once + 1 elseif seen[i] == 2 then twice = twice + 1 end
end
print(runs, once, twice)

-- A finalizer that fails or yields does not disturb the recursion; one that makes its object live again.
local risen = {}
local function lives(i)
  setmetatable({ i = i }, { __gc = function(o)
    if i % 3 == 0 then error("ignored") end
    if i % 3 == 1 then risen[#risen + 1] = o end
  end })
end
local function rising(n)
  if n == 0 then return 1 end
  lives(n)
  if n % 10 == 0 then collectgarbage() end
  return rising(n - 1) % 1009 * 3 + n
end
warn("@off")
for n = 10, 40, 15 do print(n, rising(n)) end
for i = 1, 3 do collectgarbage() end
local s = 0
for _, o in ipairs(risen) do s = s + o.i end
print(#risen, s)

-- Coroutines that are given up at some depth.
local function leave(n)
  if n == 0 then return 0 end
  local co = coroutine.wrap(function(k)
    local t = { k }
    coroutine.yield(t[1] * 2)
    return t
  end)
  local v = co(n)
  if n % 20 == 0 then collectgarbage() end
  return v + leave(n - 1)
end
for n = 10, 70, 20 do print(n, leave(n)) end
