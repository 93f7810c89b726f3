-- Stores into the array part: numbers over numbers, other types, nil, and into holes.
local a = {}
for i = 1, 32 do a[i] = i end
for i = 1, 32 do a[i] = a[i] * 2 end
for i = 1, 32 do a[i] = a[i] + 0.5 end
for i = 2, 32, 2 do a[i] = nil end
for i = 1, 32 do io.write(tostring(a[i]), " ") end
print()
for i = 2, 32, 2 do a[i] = i end
for i = 1, 32 do a[i] = i % 5 == 0 and "five" or i end
for i = 1, 32 do io.write(tostring(a[i]), " ") end
print(#a)
for i = 1, 32 do a[i] = (i > 16) end
for i = 1, 32 do io.write(tostring(a[i]), " ") end
print(#a)
for i = 1, 32 do a[i] = a end
print(a[1] == a, a[32] == a, #a)
for i = 32, 1, -1 do a[i] = nil end
print(#a, next(a))
