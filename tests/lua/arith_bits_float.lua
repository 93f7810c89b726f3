-- Bitwise operations on floats with integer values; a fraction, an infinity or a string is another matter.
local x = 0
for f = -20.0, 20.0 do x = (x * 3 + ((f & 0xff) | 1)) ~ f end
print(x, math.type(x))
local y = 0
for i = 1, 20 do y = y ~ (i * 2.0) ~ ~(i + 0.0) end
print(y)
local function mix(a)
  local z = 0
  for i = 1, #a do z = z ~ a[i] end
  return z
end
print(mix { 1, 2, 3, 4.0, 5.0, 6 })
print(pcall(mix, { 1, 2, 3, "4", 5.0, 6 }))
print(pcall(mix, { 1, 2, 3, 4.5, 5.0, 6 }))
print(pcall(mix, { 1.0, 2.0, 3.0, 1 / 0 }))
print(pcall(mix, { 1.0, 2.0, 3.0, 2.0 ^ 63 }))
print(pcall(mix, { 1.0, 2.0, 3.0, -2.0 ^ 63 }))
print(pcall(mix, { 1.0, 2.0, -0.0, 0 / 0 }))
print(pcall(mix, { 1, 2, 3, "x" }))
