-- Generic loops: ipairs, pairs, and closures as iterators.
local list = {}
for i = 1, 1000 do list[i] = i * 7 % 13 end
local function range(n)
  local i = 0
  return function()
    i = i + 1
    if i <= n then return i end
  end
end
local total = 0
for _ = 1, 3000 do
  for _, value in ipairs(list) do total = total + value end
  for key, value in pairs(list) do total = total + key - value end
  for value in range(1000) do total = total + value end
end
print(total)
