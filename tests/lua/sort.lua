-- Sorting by hand: reads and writes at two places of one array.
local a, seed = {}, 42
for i = 1, 60 do seed = (seed * 1103515245 + 12345) % 2147483648; a[i] = seed % 1000 end
for i = 2, #a do
  local x, j = a[i], i - 1
  while j > 0 and a[j] > x do
    a[j + 1] = a[j]
    j = j - 1
  end
  a[j + 1] = x
end
local ok = true
for i = 2, #a do if a[i - 1] > a[i] then ok = false end end
print(ok, a[1], a[30], a[60])
for i = 1, #a // 2 do a[i], a[#a - i + 1] = a[#a - i + 1], a[i] end
print(a[1], a[30], a[60])
for i = 1, #a do
  for j = 1, #a - i do
    if a[j] > a[j + 1] then a[j], a[j + 1] = a[j + 1], a[j] end
  end
end
print(table.concat(a, " "))
