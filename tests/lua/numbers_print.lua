-- Numbers leave compiled loops with their type: what prints as 3 and what as 3.0.
local a, b, c, d = 0, 0.0, 0, 0
for i = 1, 12 do
  a = a + i
  b = b + i
  c = c + i / 1
  d = i // 2.0
end
print(a, b, c, d)
local e = 2 ^ 53
for i = 1, 10 do e = e + 1 end
print(e, math.type(e))
local f = 0
for i = 1, 10 do f = i * 1e15 end
print(f)
local g = 1
for i = 1, 64 do g = g * 2 end
print(g)
local h = 1
for i = 1, 1100 do h = h * 2.0 end
print(h, -h, h - h ~= h - h)
for i = 1, 4 do local v = i / 2; io.write(v, " ", v * 2, " ", i * 0, " ", -i * 0.0, "\n") end
