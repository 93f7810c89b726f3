-- A loop with so many variables that they cannot all be in registers.
local a, b, c, d, e, f, g, h, i, j = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
local k, l, m, n, o, p, q, r, s, t = 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5
for x = 1, 40 do
  a, b, c, d, e, f, g, h, i, j = b, c, d, e, f, g, h, i, j, a + x
  k, l, m, n, o, p, q, r, s, t = l, m, n, o, p, q, r, s, t, k + x
  if x % 9 == 0 then a = a + j; t = t - a end
end
print(a, b, c, d, e, f, g, h, i, j)
print(k, l, m, n, o, p, q, r, s, t)
local big = {}
for x = 1, 250 do big[x] = x end
local u = 0
for x = 250, 1, -1 do u = (u * 3 + big[x]) % 1000003 end
print(u)
