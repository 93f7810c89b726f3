-- Program (b) whose objects go into tables that live on: appended, under the next index, under a name.
local ways = dofile("support/ways.lua")
local function appended(n, at, way, missing)
  local list, other, holder = {}, {}, { last = false }
  local p, kept
  local add = 1
  for i = 1, n do
    if i == at then
      if way == "break" then break
      elseif way == "keep" then kept = p
      elseif way == "index" then kept = missing.field
      elseif way == "call" then missing(p)
      elseif way == "float" then add = 0.5
      end
    end
    p = { x = i + add, prev = holder.last }
    list[i] = p
    other[#other + 1] = { p, i }
    holder.last = p
    if i % 4 == 0 then p.prev = nil end
  end
  return missing.field
end
ways.all(appended, { p = function() return { x = 1, prev = false } end })
-- a small list of its own in each iteration, filled behind its constructor
local function filled(n, at, way, missing)
  local p, kept = { 0, 0, 0, 0 }
  local add = 1
  for i = 1, n do
    if i == at then
      if way == "break" then break
      elseif way == "keep" then kept = p
      elseif way == "index" then kept = missing.field
      elseif way == "call" then missing(p)
      elseif way == "float" then add = 0.5
      end
    end
    local t = { p[4], nil, nil, nil }
    t[2] = i
    t[#t + 1] = p[1]
    t[#t + 1] = add
    p = t
  end
  return missing.field
end
ways.all(filled, { p = function()
  local t = { 1, nil, nil, nil }
  t[2] = 1
  t[#t + 1] = 1
  t[#t + 1] = 1
  return t
end })
-- objects of a loop serve as metatables
local base = { inherited = "yes" }
for n = 1, 12 do
  local class, instances = { __index = false, n = 0 }, 0
  for i = 1, n do class = { __index = i % 2 == n % 2 and base or nil, n = class.n + 1 } end
  local object = setmetatable({}, class)
  local before = object.inherited
  class.__index = function(_, key) return key .. n end
  class.__len = function() return n end
  print(class.n, before, object.inherited, #object, getmetatable(object) == class)
  local proxy, log = setmetatable(class, { __newindex = function(t, k, v) rawset(t, k, v * 2) end }), 0
  for i = 1, 5 do proxy["k" .. i] = i; proxy.fresh = i end
  print(proxy.k5, proxy.fresh)
end
