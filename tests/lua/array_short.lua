-- The array is shorter than the loop: an error, or a metamethod that makes the missing elements.
local function sum(a, n)
  local s = 0
  for i = 1, n do s = s + a[i] end
  return s
end

local a = {}
for i = 1, 20 do a[i] = i * 1.5 end
for n = 15, 25 do print(n, pcall(sum, a, n)) end
setmetatable(a, { __index = function(t, k) return k * 1000 end })
for n = 18, 24 do print(n, pcall(sum, a, n)) end
setmetatable(a, { __index = { [21] = 7, [22] = 8 } })
for n = 20, 23 do print(n, pcall(sum, a, n)) end
