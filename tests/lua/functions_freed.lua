-- Functions with compiled loops are collected, and new ones may lie at the same addresses.
local results = 0
for round = 1, 40 do
  local source = "local s = " .. round % 7 .. " for i = 1, 20 do s = s " .. (round % 2 == 0 and "+" or "-") .. " i * " .. round .. " end return s"
  local f = assert(load(source))
  results = results + f() + f()
  f = nil
  if round % 3 == 0 then collectgarbage() end
end
print(results)
local fs = {}
for i = 1, 10 do fs[i] = load("local n = 0 for i = 1, 15 do n = n + i * " .. i .. ".5 end return n") end
local s = 0
for i = 1, 10 do s = s + fs[i]() end
for i = 1, 10, 2 do fs[i] = nil end
collectgarbage()
for i = 2, 10, 2 do s = s + fs[i]() end
print(s)
local weak = setmetatable({}, { __mode = "k" })
do
  local t = {}
  weak[t] = true
  local n = 0
  for i = 1, 20 do t.x = (t.x or 0) + i; n = n + t.x end
  print(n)
end
collectgarbage()
local left = 0
for _ in pairs(weak) do left = left + 1 end
print(left)
