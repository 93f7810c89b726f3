-- Program (b) with one object in two variables and in two places of another, and with variables that change places.
local ways = dofile("support/ways.lua")
local function shared(n, at, way, missing)
  local p, q, holder, kept = { x = 0 }
  q = p
  local add = 1
  for i = 1, n do
    if i == at then
      if way == "break" then break
      elseif way == "keep" then kept = holder
      elseif way == "index" then kept = missing.field
      elseif way == "call" then missing(p)
      elseif way == "float" then add = 0.5
      end
    end
    p = { x = q.x + i }
    q = p
    holder = { first = p, second = q, p, q }
    q.x = q.x + add
    if holder[1].x ~= p.x or holder.second ~= holder[2] then print("identity", i) end
  end
  return missing.field
end
ways.all(shared, { holder = function()
  local p = { x = 1 }
  return { first = p, second = p, p, p }
end })
local function swapped(n, at, way, missing)
  local old, new, kept = { v = 1 }, { v = 1 }
  local add = 1
  for i = 1, n do
    if i == at then
      if way == "break" then break
      elseif way == "keep" then kept = old
      elseif way == "index" then kept = missing.field
      elseif way == "call" then missing(old)
      elseif way == "float" then add = 0.5
      end
    end
    old, new = new, { v = old.v + new.v + add }
    if old == new then print("identity", i) end
  end
  return missing.field
end
ways.all(swapped, { new = function() return { v = 1 } end })
