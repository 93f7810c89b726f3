-- The collector at work: garbage in loops, finalizers that run Lua code, both modes, weak tables of reachable keys.
local finalized = 0
for i = 1, 3000 do
  local garbage = setmetatable({ i, { i } }, { __gc = function(o)
    local sum = 0
    for j = 1, 5 do sum = sum + j end
    finalized = finalized + sum
  end })
  if i % 500 == 0 then collectgarbage() end
end
collectgarbage() collectgarbage()
print(finalized)
for _, mode in ipairs({ "incremental", "generational", "incremental" }) do
  collectgarbage(mode)
  local keep = {}
  for i = 1, 2000 do
    keep[i % 50 + 1] = { i, tostring(i), function() return i end }
    if i % 300 == 0 then collectgarbage("step") end
  end
  local sum = 0
  for _, entry in ipairs(keep) do sum = sum + entry[1] + #entry[2] + entry[3]() end
  print(mode, sum)
end
local weak = setmetatable({}, { __mode = "k" })
local anchors = {}
for i = 1, 50 do anchors[i] = { i }; weak[anchors[i]] = i end
collectgarbage()
local total = 0
for key, value in pairs(weak) do total = total + key[1] + value end
print(total, #anchors)
local text = ""
for i = 1, 400 do text = (text .. i):sub(-200) end
print(text)
-- The table of short strings shrinks when most of them are gone: by half in each collection.
do
  collectgarbage()
  local before, kept = collectgarbage("count"), {}
  for i = 1, 20000 do kept[i] = "string " .. i end
  local most = collectgarbage("count")
  kept = nil
  for _ = 1, 12 do collectgarbage() end
  print(most > before + 500, collectgarbage("count") < before + 100)
end
