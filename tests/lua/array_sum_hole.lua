-- A hole in the array stops the sum with an error that names the place, whatever compiled code did before.
local function sum(a, n)
  local s = 0
  for i = 1, n do s = s + a[i] end
  return s
end

local a = {}
for i = 1, 40 do a[i] = i end
print(sum(a, 40))
a[25] = nil
print(pcall(sum, a, 40))
print(pcall(sum, a, 24))
a[25] = 0.5
print(sum(a, 40))
for i = 1, 40 do a[i] = i / 2 end
print(sum(a, 40))
a[1] = nil
print(pcall(sum, a, 40))
