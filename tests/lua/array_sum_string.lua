-- Strings among numbers: those that look like numbers are converted, the others are errors.
local function sum(a, n)
  local s = 0
  for i = 1, n do s = s + a[i] end
  return s
end

local a = {}
for i = 1, 30 do a[i] = i end
print(sum(a, 30))
a[12] = "12"
print(sum(a, 30))
a[12] = "0x10"
print(sum(a, 30))
a[12] = "1e1"
print(sum(a, 30))
a[20] = "twenty"
print(pcall(sum, a, 30))
a[20] = {}
print(pcall(sum, a, 30))
a[20] = true
print(pcall(sum, a, 30))
