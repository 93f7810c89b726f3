-- Priority queues whose entries change places.
local binaryheap = require("binaryheap")
local seed, sum = 42, 0
local function random() seed = seed * 16807 % 2147483647 return seed end
for round = 1, 3 do
  local heap = round == 2 and binaryheap.maxUnique() or binaryheap.minUnique()
  for i = 1, 2000 do heap:insert(random() % 100000, "k" .. i) end
  for i = 1, 700 do heap:update("k" .. i, random() % 100000) end
  for i = 900, 1200 do heap:remove("k" .. i) end
  local last
  while heap:size() > 0 do
    local payload, value = heap:pop()
    assert(last == nil or (round == 2 and last >= value) or (round ~= 2 and last <= value))
    last, sum = value, (sum * 31 + value + tonumber(payload:sub(2))) % 1000003
  end
  print(round, sum)
end
