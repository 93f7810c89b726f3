-- Variables exchanged in a loop: values must not be confused when the trace goes round.
local a, b, c = 1, 2, 3
for i = 1, 20 do a, b, c = b, c, a + 1 end
print(a, b, c)
local x, y = 0, 1
for i = 1, 50 do x, y = y, x + y end
print(x, y)
local p, q = 1.5, 2
for i = 1, 9 do p, q = q + 0.5, p - 0.5 end
print(p, q)
local u, v, w = 1, 2, 3
for i = 1, 10 do
  local t = u
  u = v
  v = w
  w = t
  if i == 7 then u = u + 100 end
end
print(u, v, w)
