-- Two names for one table, and two tables by one name: a store through one must be seen through the other.
local a = { 1, 2, 3, 4, 5, 6, 7, 8, n = 0 }
local b = a
local s = 0
for i = 1, 8 do
  a[i] = a[i] * 10
  s = s + b[i]
  b.n = b.n + 1
  s = s + a.n
end
print(s)
local function copy(from, to, n) for i = 1, n do to[i + 1] = from[i] end end
local c = { 1, 2, 3, 4, 5, 6, 7, 8 }
copy(c, c, 7)
print(table.concat(c, " "))
local d, e = { 1, 2, 3, 4, 5, 6, 7, 8 }, { 0, 0, 0, 0, 0, 0, 0, 0 }
copy(d, e, 7)
print(table.concat(e, " "))
local t = { x = 1 }
local u = t
for i = 1, 20 do
  t.x = i
  u.x = u.x + 0.5
  if t.x ~= i + 0.5 then print("wrong", i) end
  if i == 10 then u = { x = 5 } t = u end
end
print(t.x, u.x)
up = { v = 1 }
local env = _ENV
for i = 1, 20 do up.v = up.v + 1; env.up.v = env.up.v + 1; s = s + up.v end
print(s, up.v)
