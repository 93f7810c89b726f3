-- Integers and floats in one expression: the result's type, and rounding of large integers.
local s, t = 0, 0.0
for i = 1, 40 do
  s = s + i * 0.5
  t = t + i / 2 + i // 2 + i % 3
end
print(s, t)
local big = math.maxinteger
local out = 0.0
for i = 1, 20 do
  local j = big - i * 511
  out = out + (j + 0.0) / 1e18 + j / 3
end
print(out)
local k = 1
for i = 1, 70 do k = k * 2 + (i & 1) end
print(k)
k = 1
for i = 1, 70 do k = k * 2.0 + (i & 1) end
print(k)
k = 10
for i = 1, 25 do k = k - i; k = k * -1; k = -k + i end
print(k)
