-- Arrays at their edges: index 0 and negative, holes, growing by one and by many, shrinking, the border, huge keys, floats.
local t = {}
for i = -20, 80 do t[i] = i end
print(#t, t[-20], t[0], t[80])
local s = 0
for i = -30, 100 do s = s + (t[i] or 1000) end
print(s)
for i = 80, 41, -1 do t[i] = nil end
print(#t)
local borders = {}
local b = {}
for i = 1, 64 do b[#b + 1] = i; if i % 9 == 0 then b[#b] = nil; b[#b] = nil end borders[i] = #b end
print(table.concat(borders, " "))
local sparse, c = {}, 0
for i = 1, 60 do sparse[i * i] = i end
for i = 1, 3600 // 60 do if sparse[i] then c = c + sparse[i] end end
print(c)
local huge = { [math.maxinteger] = 1, [math.mininteger] = 2, [2 ^ 53] = 3 }
local h = 0
for i = math.maxinteger - 60, math.maxinteger do h = h + (huge[i] or 0) end
for i = math.mininteger + 60, math.mininteger, -1 do h = h + (huge[i] or 0) end
for i = (1 << 53) - 30, (1 << 53) + 30 do h = h + (huge[i] or 0) + (huge[i + 0.0] and 10 or 0) end
print(h)
local a = {}
for i = 1, 60 do a[i] = i end
for i = 1, 60 do
  if i == 30 then for j = 61, 200 do a[j] = j end end
  if i == 40 then for j = 200, 20, -1 do a[j] = nil end end
  s = s + (a[i] or -1) + (a[i + 100] or 0)
end
print(s, #a)
table.insert(a, 5, "in"); table.remove(a, 1)
local moved = table.move(a, 1, 10, 3, {})
print(a[4], #a, moved[3], #moved == 0 or #moved)
local z = 0
for i = 1, 80 do
  local v = { i, nil, i }
  z = z + (v[1] or 0) + (v[2] or 1) + v[3] + (v[4] and 1 or 0) + (v[0] or 0.5)
end
print(z)
print(pcall(function() local q = {} for i = 1, 60 do q[i] = q[i - 1] + i end end))
print(pcall(function() local q = { [0] = 0 } for i = 1, 60 do q[i] = q[i - 1] + i end return q[60] end))
local w = table.pack(table.unpack({ 1, 2, 3 }, -1, 5))
print(w.n, w[1], w[3], w[5], w[7])
local two = {}
for i = 1, 30 do two[i] = {}; for j = 1, 30 do two[i][j] = (two[i - 1] and two[i - 1][j] or 0) + j end end
print(two[30][30], two[1][1])
local str = {}
for i = 1, 60 do str[tostring(i)] = i; str[i] = -i end
local sn = 0
for i = 1, 60 do sn = sn + str[tostring(i)] + str[i] * 2 end
print(sn)
