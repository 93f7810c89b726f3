-- Old tables grow and get new keys and values, while the collector is at work; weak tables among them.
collectgarbage("incremental", 100, 200, 4)
local old = {}
for round = 1, 6 do
  collectgarbage("step", 1)
  for i = 1, 25 do
    old[#old + 1] = { round * i }
    old["k" .. #old] = { "v" .. i }
    old[{ i }] = i
    if i == 13 then collectgarbage("step", 2) end
  end
end
collectgarbage()
local s, strings = 0, 0
for i = 1, #old do
  s = s + old[i][1]
  if old["k" .. i][1]:sub(1, 1) == "v" then strings = strings + 1 end
end
print(#old, s, strings)

collectgarbage("generational")
local kept = {}
collectgarbage(); collectgarbage()
for i = 1, 60 do
  kept[i] = { i, tostring(i) .. "x" }
  kept[tostring(i)] = kept[i]
  if i % 20 == 0 then collectgarbage("step") end
end
collectgarbage()
local c = 0
for i = 1, 60 do if kept[i][2] == i .. "x" and kept[tostring(i)] == kept[i] then c = c + 1 end end
print(c, #kept)

local weak_values, weak_keys, anchor = setmetatable({}, { __mode = "v" }), setmetatable({}, { __mode = "k" }), {}
for i = 1, 50 do
  local o = { i }
  weak_values[i] = o
  weak_keys[o] = { o }
  if i % 5 == 0 then anchor[#anchor + 1] = o end
end
collectgarbage(); collectgarbage()
local left, values = 0, 0
for k, v in pairs(weak_keys) do left = left + (k == v[1] and 1 or 100) end
for i = 1, 50 do if weak_values[i] then values = values + weak_values[i][1] end end
print(left, values, #anchor)
