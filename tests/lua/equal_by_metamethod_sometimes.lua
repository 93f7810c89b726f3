-- Where a comparison only chooses numbers both of its ways become one. It was recorded when both tables were
-- the same, so that nobody asked for '__eq'; other tables have it.
local class = { __eq = function() return true end }
local a, b = setmetatable({}, class), setmetatable({}, class)
local other = setmetatable({}, {})  -- a metatable without it
local plain = {}

local function choose(list)
  local sum = 0
  for i = 1, 240 do
    local x = list[i % 6 + 1] == a and 1 or 2
    sum = sum + x
  end
  return sum
end

local function assign(list)
  local sum = 0
  for i = 1, 240 do
    local x = 1
    if list[i % 6 + 1] ~= a then x = 2 end
    sum = sum + x
  end
  return sum
end

local function count(list)
  local n = 0
  for i = 1, 240 do
    if list[i % 6 + 1] ~= a then n = n + 1 end
  end
  return n
end

local function inside(list)
  local sum = 0
  for i = 1, 240 do sum = sum + (list[i % 6 + 1] == a and 1 or 2) end
  return sum
end

-- The same without any '__eq' at first: metatables get it, or others, when the loops are hot.
local function same(list, object)
  local n = 0
  for i = 1, 240 do
    if list[i % 6 + 1] == object then n = n + 1 end
  end
  return n
end

for turn = 0, 5 do
  local list = { a, a, a, a, a, a }
  list[turn + 1] = b
  print(turn, choose(list), assign(list), count(list), inside(list))
  list[turn + 1] = other
  print(turn, choose(list), assign(list), count(list), inside(list))
  list[turn + 1] = 7
  print(turn, choose(list), assign(list), count(list), inside(list))
end

local c, d = setmetatable({}, {}), setmetatable({}, {})
for turn = 0, 5 do
  local list = { plain, plain, plain, plain, plain, plain }
  list[turn + 1] = c
  print(turn, same(list, plain), same(list, c))
  list = { c, c, c, d, c, c }
  print(turn, same(list, c), same(list, d))
  if turn == 2 then getmetatable(c).__eq = function() return true end end
  if turn == 4 then
    getmetatable(c).__eq = nil
    getmetatable(d).__eq = function(x, y) return x ~= nil and y ~= nil end
  end
end

-- Userdata: files have no '__eq'.
local files = { io.stdout, io.stdout, io.stderr, io.stdout }
local n = 0
for i = 1, 240 do
  if files[i % 4 + 1] == io.stdout then n = n + 1 end
end
print(n)
