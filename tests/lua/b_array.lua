-- Program (b) with an array part: '#', holes, and both parts at once.
local ways = dofile("support/ways.lua")
local function pair(n, at, way, missing)
  local p, kept = { 0, 0 }
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
    p = { i, p[1] + p[2] + add }
  end
  return missing.field
end
ways.all(pair, { p = function() return { 1, 2 } end })
local function mixed(n, at, way, missing)
  local p, kept = { 0, nil, 0, k = 0 }
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
    p = { i, nil, p[1] + p.k, k = add, i == 3, nil, x = i }
    p[2] = i
    p[4] = nil
    p[1] = p[3]
  end
  return missing.field
end
ways.all(mixed, { p = function()
  local t = { 1, nil, 1, k = 1, false, nil, x = 1 }
  t[2] = 1
  t[4] = nil
  t[1] = t[3]
  return t
end })
