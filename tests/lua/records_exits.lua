-- Records that only exits make: nothing else in these loops asks the collector to look at what they add up to.
local first = {}
local function last(n, i)
  local p = first
  while i < n do
    if i > 0 then p = { x = i, y = { i } } end
    i = i + 1
  end
  return p
end
local function bounded(rounds)
  collectgarbage()
  local before, most, sum = collectgarbage("count"), 0, 0
  for round = 1, rounds do
    sum = sum + last(4, 0).y[1]
    local now = collectgarbage("count")
    if now > most then most = now end
  end
  return sum, most < before + 150
end
print(bounded(3000))
collectgarbage("generational")
print(bounded(3000))
collectgarbage("incremental", 100, 400)
print(bounded(3000))
-- each step of the collector as small, and as near, as it can be
collectgarbage("incremental", 1, 1000, 1)
collectgarbage("setpause", 0)
local weak, kept = setmetatable({}, { __mode = "k" }), {}
for round = 1, 40 do
  local p = last(round % 5 + 2, 0)
  weak[p] = round
  kept[round % 7] = p
end
collectgarbage()
local alive = 0
for p, round in pairs(weak) do
  if kept[round % 7] == p and p.x == p.y[1] then alive = alive + 1 end
end
print(alive)
