-- Remainders of floats, '%' and math.fmod: what is done in place and what is left to the C library must look the same, and
-- must leave other floats alone. All bits are shown, a NaN's sign too.
local inf, nan = 1 / 0, -(0 / 0)
local show = function(x) return string.format("%a", x) end
local edge = { 0.0, -0.0, 1.0, -1.0, 0.5, 3.75, -7.0, 0.1, 0.3, 1e17, -1e300, 2^53, 5e-324, -1e-20, 2.2250738585072014e-308,
               1.7976931348623157e308, inf, -inf, nan, -nan }
local m, f = {}, {}
local function row(a)
  for j = 1, #edge do
    local b = edge[j]
    m[j] = a % b
    f[j] = math.fmod(a, b)
  end
  for j = 1, #edge do io.write(show(m[j]), "/", show(f[j]), " ") end
  print()
end
for i = 1, #edge do row(edge[i]) end

-- Multiples of a step and their neighbours: quotients that are rounded up.
local function steps(step)
  local s, z, p, q = 0.0, 0, 1.0, 0.25
  for i = -60, 60 do
    local x = step * i
    s = s + x % step + (x + 0.25) % -step + math.fmod(x, step) + math.fmod(x - 0.3, -step)
    if x % step == 0 then z = z + 1 end
    p, q = q, p + 0.125
  end
  print(show(s), z, p, q)
end
for _, step in ipairs { 0.1, 0.3, 0.7, 1.0, 3.0, -0.1, 1e-9, 1e9, 2^-1060 } do steps(step) end

-- Constant divisors, powers of two among them.
local t = {}
for k = 1, 8 do t[k] = 0.0 end
for i = -50, 50 do
  local x = i * 0.75
  t[1] = t[1] + x % 2.0
  t[2] = t[2] + x % -4.0
  t[3] = t[3] + x % 3.0
  t[4] = t[4] + x % 0.1
  t[5] = t[5] + (x * 1e20) % 7.0
  t[6] = t[6] + math.fmod(x, 0.5)
  t[7] = t[7] + i % 2.5
  t[8] = t[8] + 1 / (x % 1.5)
end
for k = 1, 8 do io.write(show(t[k]), " ") end
print()

-- A generator of random numbers in floats.
local x, s = 123456789.0, 0.0
for i = 1, 300 do
  x = (x * 16807.0) % 2147483647.0
  s = s + x % 2.0
end
print(x, s)
