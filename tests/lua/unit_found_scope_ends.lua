-- Variables whose scope ends right after a call are seen by debug.getlocal in what is called: in a recursion
-- that is left at its bottom, in functions that a loop takes in, and after a collection.
local function look(first)
  local list = {}
  for level = first, 12 do
    local info = debug.getinfo(level, "S")
    if not info or info.what ~= "Lua" then break end
    local name, value = debug.getlocal(level, 2)
    list[#list + 1] = tostring(name) .. "=" .. tostring(value)
  end
  print(table.concat(list, " "))
end
local on
local function down(n)
  if n <= 0 then if on then look(3) end return n end
  if n % 2 == 1 then
    local thrice = n * 3
    local r = down(n - 1)
  else
    local half = n / 2
    local r = down(n - 1)
  end
end
for i = 1, 40 do
  on = i % 8 == 0
  down(i % 7)
end

local function bottom(n)
  if n % 10 == 0 then look(4) end
  if n % 20 == 0 then collectgarbage() look(4) end
  return n
end
local function taken_in(n)
  if n > 0 then
    local text = n * 3
    local r = bottom(n)
  else
    return bottom(2)
  end
end
for i = 1, 60 do taken_in(i) end

local function with_tables(n)
  if n == 0 then collectgarbage() look(3) return 0 end
  do
    local t = n % 3 == 0 and n or { n }
    local r = with_tables(n - 1)
  end
  do local s = n + 0.5 with_tables(0) end
  return n
end
local shown = tostring
function tostring(v) return type(v) == "table" and "table " .. v[1] or shown(v) end
for i = 1, 12 do with_tables(i % 4) end
