-- Records under both collectors: what is reachable survives, what is not goes, memory stays bounded.
local function work(n)
  local kept, last = {}, nil
  for i = 1, n do
    local r = { id = i, pair = { i, i + 1 }, prev = last }
    if i % 50 == 0 then kept[#kept + 1] = r end
    last = i % 10 ~= 0 and r or nil
  end
  local sum = 0
  for i = 1, #kept do sum = sum + kept[i].id + kept[i].pair[2] end
  return #kept, sum, last
end
local function bounded(n)
  collectgarbage()
  local before, most = collectgarbage("count"), 0
  for round = 1, 5 do
    local p
    for i = 1, n do p = { x = i, y = { i, i } } end
    local now = collectgarbage("count")
    if now > most then most = now end
  end
  return most < before + 2000
end
print(work(400), bounded(2000))
collectgarbage("generational")
print(work(400), bounded(2000))
collectgarbage("incremental", 50, 400)
print(work(400), bounded(2000))
collectgarbage("incremental", 100, 100, 4)
print(work(400), bounded(2000))
collectgarbage("stop")
print(work(200))
collectgarbage("restart")
-- a weak table, and finalizers that make records themselves
local weak, count = setmetatable({}, { __mode = "v" }), 0
for i = 1, 100 do weak[i] = { i } end
collectgarbage()
for i = 1, 100 do if weak[i] ~= nil then count = count + 1 end end
print(count)
local finalized = 0
for round = 1, 3 do
  setmetatable({}, { __gc = function() for i = 1, 20 do local r = { n = i }; finalized = finalized + r.n end end })
  for i = 1, 300 do local r = { round, i }; count = count + #r end
  collectgarbage()
end
print(finalized, count)
