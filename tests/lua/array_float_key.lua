-- Float keys with integer values are the integer keys; others are not in the array.
local a = {}
for i = 1, 16 do a[i] = i * i end
local s = 0
for x = 1.0, 16.0 do s = s + a[x] end
print(s)
for x = 1.0, 16.0, 1.0 do a[x] = x end
print(a[1], a[16], math.type(a[7]), #a)
local missing = 0
for x = 1.0, 16.0, 0.5 do if a[x] == nil then missing = missing + 1 end end
print(missing)
print(pcall(function() for x = 1, 3 do a[0 / 0] = x end end))
local big = 0
for x = 2.0 ^ 53, 2.0 ^ 53 + 16, 2.0 do if a[x] == nil then big = big + 1 end end
print(big)
