-- Tables that are rebuilt while the loop reads them: keys move, arrays grow, fields come and go.
local t = { value = 1 }
local s = 0
for i = 1, 40 do
  s = s + t.value
  t.value = t.value + 1
  if i % 8 == 0 then t["key" .. i] = i end
  if i % 10 == 0 then t["key" .. i // 2] = nil end
end
print(s, t.value)
local u = { 1, 2, 3, x = 1 }
for i = 1, 30 do
  u.x = u.x + u[1]
  u[1] = u[1] + 1
  if i == 15 then for j = 4, 40 do u[j] = j end end
  if i == 20 then for j = 40, 2, -1 do u[j] = nil end; collectgarbage() end
end
print(u.x, u[1], #u)
local a, b = { k = 1 }, { j = 0, k = 2, l = 3, m = 4 }
local sum = 0
for i = 1, 24 do
  local r = i % 2 == 0 and a or b
  sum = sum + r.k
  r.k = r.k + i
end
print(sum, a.k, b.k)
