-- Integer and float numeric loops with little in them.
local sum = 0
for i = 1, 40000000 do sum = sum + i % 3 end
local area = 0.0
for x = 0.0, 1.0, 1 / 8000000 do area = area + x end
print(sum, area)
