-- Globals: numbers, tables and functions, made, changed and removed around loops; _ENV of one's own.
count, rate, name = 0, 1.5, "x"
data = {}
for i = 1, 40 do
  count = count + 1
  rate = rate * 0.9
  data[i] = count
end
print(count, string.format("%.10g", rate), #data, data[40])
for i = 1, 20 do
  if i == 10 then count = "text" end
  if i == 15 then count = 1 end
  if count == "text" then rate = rate + 1 end
end
print(count, string.format("%.10g", rate))
for i = 1, 10 do missing_global = missing_global or i end
print(missing_global)
missing_global = nil
local nils = 0
for i = 1, 20 do if missing_global == nil then nils = nils + 1 end; if i == 12 then missing_global = 1 end end
print(nils)
for i = 1, 5 do _G["dynamic" .. i] = i end
print(dynamic1, dynamic5)
local function with(env)
  local _ENV = env
  for i = 1, 10 do n = n + i end
  return n
end
print(with { n = 1 }, with { n = 0.5 }, with(setmetatable({}, { __index = { n = 5 } })))
print(pcall(with, {}))
