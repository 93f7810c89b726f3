-- Program (b): a record in each iteration, the last one kept across the back edge, left in every way.
local ways = dofile("support/ways.lua")
local function record(n, at, way, missing)
  local p, kept = { x = 0, y = 0 }
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
    p = { x = i, y = p.x + p.y + add }
  end
  return missing.field
end
ways.all(record, { p = function() return { x = 1, y = 2 } end })
-- more keys, one of them without a value, in an order of their own
local function keys(n, at, way, missing)
  local p, kept = { zeta = 0 }
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
    p = { alpha = i, beta = nil, gamma = "g", delta = p.zeta, epsilon = add, zeta = i == 5, x = i }
    p.beta = add
    p.gamma = nil
  end
  return missing.field
end
ways.all(keys, { p = function()
  local t = { alpha = 1, beta = nil, gamma = "g", delta = false, epsilon = 1, zeta = false, x = 1 }
  t.beta = 1
  t.gamma = nil
  return t
end })
