-- Functions that call themselves whose values change type at one level: once, often, at each depth, on the
-- way down and on the way up.
local at, kind = -1, "none"
local function odd_value(n)
  if n ~= at then return n end
  if kind == "float" then return n + 0.5 elseif kind == "text" then return "7"
  elseif kind == "nil" then return nil elseif kind == "table" then return { n } else return true end
end

local function down(n, x)
  if n == 0 then return x end
  if n == at then x = odd_value(n) end
  return down(n - 1, x) , n
end
local function up(n)
  if n == 0 then return 0 end
  local below = up(n - 1)
  if n == at then return odd_value(n) end
  if below == nil then return 100 end
  if below == true then return 200 end
  return below + 1
end
local function both(n, x)
  if n == 0 then return x end
  local r = both(n - 1, n == at and odd_value(n) or x)
  if r == n then return r end
  return n == at and odd_value(n) or r
end

local function show(ok, v)
  if type(v) == "table" then v = "table " .. tostring(v[1]) end
  if not ok then v = tostring(v):gsub("^.-:%d+: ", "") end
  return tostring(ok) .. " " .. tostring(v)
end
for i = 1, 40 do up(i % 9) end
for _, k in ipairs { "float", "text", "nil", "table", "boolean" } do
  kind = k
  for depth = 0, 12 do
    at = depth
    print(k, depth, show(pcall(up, 12)), show(pcall(down, 12, depth)), show(pcall(both, 12, 1)))
  end
  at = -1
  print(up(20), (down(20, 5)), both(20, 6))
end

-- Often: at each third level of each other call.
local toggle = 0
local function often(n, x)
  if n == 0 then return x end
  if n % 3 == 0 and toggle % 2 == 0 then x = x + 0.5 end
  local r = often(n - 1, x)
  return r + n
end
for i = 1, 30 do
  toggle = i
  io.write(tostring(often(i % 11, i)), i % 10 == 0 and "\n" or " ")
end
