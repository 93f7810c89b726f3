-- Program (b) with objects in objects, and with objects that point to each other.
local ways = dofile("support/ways.lua")
local function nested(n, at, way, missing)
  local p, kept = { x = 0, at = { y = 0, list = { 0, 0 } } }
  local add = 1
  for i = 1, n do
    if i == at then
      if way == "break" then break
      elseif way == "keep" then kept = p.at
      elseif way == "index" then kept = missing.field
      elseif way == "call" then missing(p)
      elseif way == "float" then add = 0.5
      end
    end
    p = { x = i, at = { y = p.at.y + p.at.list[2] + add, list = { i, p.x } } }
  end
  return missing.field
end
ways.all(nested, { p = function() return { x = 1, at = { y = 0, list = { 0, 0 } } } end })
local function cyclic(n, at, way, missing)
  local p, q, kept = { v = 0 }, { v = 0 }
  local add = 1
  for i = 1, n do
    if i == at then
      if way == "break" then break
      elseif way == "keep" then kept = q.back
      elseif way == "index" then kept = missing.field
      elseif way == "call" then missing(p)
      elseif way == "float" then add = 0.5
      end
    end
    local t = { v = i + add, self = false }
    t.self = t
    q = { v = p.v, back = t, pair = { t, t.self } }
    t.other = nil
    p = t.self.self
    if q.pair[1] ~= p or q.pair[2].self ~= p or q.back == q then print("identity", i) end
  end
  return missing.field
end
ways.all(cyclic, { p = function()
  local t = { v = 1, self = false }
  t.self = t
  return t
end })
