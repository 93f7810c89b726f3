-- Records in records, arrays in arrays, mixed ones, and nil as a value.
local s = 0
for i = 1, 40 do
  local t = { point = { x = i, y = { i, i + 1 } }, name = "n", flag = i % 2 == 0 }
  s = s + t.point.x + t.point.y[1] + t.point.y[2] + #t.name
  if t.flag then s = s + 1 end
end
print(s)
local rows = {}
for i = 1, 25 do rows[i] = { i, i * 0.5, "row", false, { i } } end
local sum = 0
for i = 1, #rows do
  local row = rows[i]
  sum = sum + row[1] + row[2] + row[5][1]
  if row[4] == false and row[3] == "row" then sum = sum + 1 end
end
print(#rows, sum, #rows[25])
local nils = 0
for i = 1, 30 do
  local t = { x = nil, y = i, nil, i, nil }
  if t.x == nil and t[1] == nil and t[3] == nil then nils = nils + t.y + t[2] end
  t.y = nil
  if t.y == nil then nils = nils + 1 end
end
print(nils)
local mixed = 0
for i = 1, 30 do
  local t = { i, i, k = i, i, j = i }
  mixed = mixed + t[1] + t[2] + t[3] + t.k + t.j + #t
end
print(mixed)
local long
for i = 1, 12 do
  long = { i,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,
    31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60 }
end
print(#long, long[1], long[50], long[51], long[60])
