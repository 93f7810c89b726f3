-- Objects made on the way between loops in other frames; what was let go is let go.
local weak = setmetatable({}, { __mode = "v" })
local function last(list)
  for i = 1, #list do
    if not list[i + 1] then return list[i], { i } end
  end
end
local function build(depth, n)
  local list = {}
  for i = 1, n % 5 + 1 do list[i] = { depth, i } end
  local item, made = last(list)
  weak[n] = item
  if depth > 0 then
    local left = build(depth - 1, n + 1)
    return { item[2] + left[1] + made[1], left }
  end
  return { item[1] + item[2] + made[1] }
end
local sum = 0
for n = 1, 400 do
  local tree = build(n % 4, n)
  sum = sum + tree[1]
  if n % 100 == 0 then collectgarbage() end
end
collectgarbage()
print(sum, next(weak))
local finalized = 0
local function marks(n)
  for i = 1, 6 do
    if i > n then return setmetatable({}, { __gc = function() finalized = finalized + 1 end }) end
  end
end
for n = 1, 300 do marks(n % 6) end
collectgarbage() collectgarbage()
print(finalized)
