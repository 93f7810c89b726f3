-- Fields of records: numbers that change their type, records of different shapes, missing and removed fields.
local p = { x = 1, y = 2.5, name = "p" }
for i = 1, 30 do
  p.x = p.x + 1
  p.y = p.y * 1.1
end
print(p.x, string.format("%.12g", p.y), p.name)
local function norm(v, n)
  local s = 0
  for i = 1, n do s = s + v.x * v.x + v.y * v.y end
  return s
end
print(norm({ x = 1, y = 2 }, 10), norm({ y = 2, x = 1.5 }, 10), norm({ z = 1, x = 1, w = 2, y = 1, q = 3 }, 10))
print(norm(setmetatable({ x = 1 }, { __index = { y = 3 } }), 10))
print(pcall(norm, { x = 1 }, 10))
local t = { n = 0 }
for i = 1, 20 do
  if t.stop then break end
  t.n = t.n + 1
  if i == 14 then t.stop = true end
end
print(t.n, t.stop)
for i = 1, 10 do t.n = nil; t.n = i end
print(t.n)
for i = 1, 20 do
  if i == 10 then t.n = 0.5 end
  t.n = t.n + 1
end
print(t.n)
local q = {}
for i = 1, 10 do q.a = i; q.b = q.a + (q.c or 0); q.c = i % 2 == 0 and i or nil end
print(q.a, q.b, q.c)
