-- Numbers: mean, deviation, correlation, a regression, random numbers with a seed, special functions, old names of 'math'.
local data, x = {}, 7
for i = 1, 120 do
  x = (x * 48271) % 2147483647
  data[i] = x % 1000 / 10
end
local function mean(t) local s = 0 for i = 1, #t do s = s + t[i] end return s / #t end
local function deviation(t)
  local m, s = mean(t), 0
  for i = 1, #t do s = s + (t[i] - m) ^ 2 end
  return math.sqrt(s / (#t - 1))
end
local function median(t)
  local c = table.move(t, 1, #t, 1, {})
  table.sort(c)
  return #c % 2 == 1 and c[#c // 2 + 1] or (c[#c // 2] + c[#c // 2 + 1]) / 2
end
print(("%.6f %.6f %.2f %.1f %.1f"):format(mean(data), deviation(data), median(data), math.min(table.unpack(data)), math.max(table.unpack(data))))
local sx, sy, sxx, sxy = 0, 0, 0, 0
for i, y in ipairs(data) do sx, sy, sxx, sxy = sx + i, sy + y, sxx + i * i, sxy + i * y end
local slope = (#data * sxy - sx * sy) / (#data * sxx - sx * sx)
print(("%.9f %.6f"):format(slope, (sy - slope * sx) / #data))
local buckets = {}
for _, v in ipairs(data) do
  local b = math.floor(v / 20) + 1
  buckets[b] = (buckets[b] or 0) + 1
end
print(table.concat(buckets, " "))
local same, draws = true, {}
for round = 1, 12 do
  math.randomseed(42, round % 2)
  for i = 1, 10 do
    local v = math.random(100) * 1000 + math.random(-5, 5) + (math.random() < 0.5 and 0.5 or 0)
    local key = round % 2 * 100 + i
    if draws[key] then same = same and draws[key] == v else draws[key] = v end
  end
end
print(same, draws[1] ~= draws[101] or draws[2] ~= draws[102])
local old = { "cosh", "sinh", "tanh", "pow", "frexp", "ldexp", "log10" }
local present = 0
for _, name in ipairs(old) do if math[name] then present = present + 1 end end
if present == #old then
  local identity, powers, parts = 0, 0, 0
  for i = -30, 30 do
    local v = i / 10
    local c, s, t = math.cosh(v), math.sinh(v), math.tanh(v)
    if math.abs(c * c - s * s - 1) < 1e-9 * c * c and math.abs(t - s / c) < 1e-12 then identity = identity + 1 end
    powers = powers + math.pow(v, 2) - v ^ 2 + math.log10(10.0 ^ i) - i
    local m, e = math.frexp(v * 100)
    if math.ldexp(m, e) == v * 100 and (m == 0 or math.abs(m) >= 0.5 and math.abs(m) < 1) then parts = parts + e end
  end
  print(identity, math.abs(powers) < 1e-9, parts)
end
print(present == #old or present == 0)
local angles, quadrants = 0, {}
for i = 0, 71 do
  local a = math.rad(i * 5)
  local back = math.deg(math.atan(math.sin(a), math.cos(a))) % 360
  angles = angles + math.abs((back - i * 5 + 180) % 360 - 180)
  local q = math.floor(math.atan(math.sin(a)) * 2 // 1)
  quadrants[q] = (quadrants[q] or 0) + 1
end
print(angles < 1e-9, quadrants[-2] + (quadrants[-1] or 0), quadrants[0], quadrants[1])
local function gamma(z)
  if z < 0.5 then return math.pi / (math.sin(math.pi * z) * gamma(1 - z)) end
  z = z - 1
  local g = { 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7 }
  local a = 0.99999999999980993
  for i = 1, #g do a = a + g[i] / (z + i) end
  local t = z + 7.5
  return math.sqrt(2 * math.pi) * t ^ (z + 0.5) * math.exp(-t) * a
end
for i = 1, 60 do gamma(i / 7) end
print(("%.8g %.8g %.8g"):format(gamma(5), gamma(0.5), gamma(-1.5)))
local whole, fraction, ints, ult = 0, 0, 0, 0
for i = -60, 60 do
  local w, f = math.modf(i / 8)
  whole, fraction = whole + w * i, fraction + f * i
  if math.tointeger(i / 4) then ints = ints + 1 end
  if math.ult(i, 10) then ult = ult + 1 end
  whole = whole + math.fmod(i, 7) + math.ceil(i / 3) - math.floor(i / 3) + math.abs(i)
end
print(whole, fraction, ints, ult)
local integral = 0
for i = 1, 200 do
  local u = (i - 0.5) / 200 * math.pi
  integral = integral + math.sin(u) ^ 2 * math.pi / 200
end
print(("%.9f"):format(integral))
