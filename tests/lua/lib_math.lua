-- The functions of 'math': exact results for all kinds of numbers, and arguments that change their kind on the way.
local floor, ceil, abs, sqrt, max, min = math.floor, math.ceil, math.abs, math.sqrt, math.max, math.min
local huge, nan = math.huge, 0.0 / 0.0
local show = function (x) return string.format(math.type(x) == "integer" and "%d" or "%.17g", x) end

-- in the loop: numbers with fractions, both signs
local a, b, c, d = 0, 0, 0.0, 0.0
for i = 1, 200 do
  local x = (i - 100) * 0.37
  a = a + floor(x)
  b = b + ceil(x)
  c = c + abs(x)
  d = d + sqrt(i)
end
print(a, b, show(c), show(d))

-- each special value for the whole of a loop, and in the middle of one
local specials = { 0.0, -0.0, 0.5, -0.5, 1e15 + 0.5, 2^53, -2^53, 2^62, 2^63, -2^63, 2^63 - 1024, -2^63 - 2048, 1e300, -1e300,
                   huge, -huge, nan, -nan, 0, 1, -1, math.maxinteger, math.mininteger, math.maxinteger + 0.0, 4.0, -4.25 }
local functions = { { "floor", floor }, { "ceil", ceil }, { "abs", abs }, { "sqrt", sqrt }, { "tointeger", math.tointeger },
                    { "modf", math.modf } }
local function floors (x, n, at)
  local last = 0
  for i = 1, n do last = floor(i == at and x or i + 0.5) end
  return last
end
local function whole (x)
  local f, ce, ab, sq, ti, ip, fp, kinds
  for i = 1, 12 do
    f, ce, ab, sq, ti = floor(x), ceil(x), abs(x), sqrt(x), math.tointeger(x)
    ip, fp = math.modf(x)
    kinds = math.type(f) .. math.type(ab) .. math.type(ip) .. tostring(math.type(ti))
  end
  return show(f), show(ce), show(ab), show(sq), tostring(ti), show(ip), show(fp), kinds
end
for _, x in ipairs(specials) do
  print(show(x), show(floors(x, 9, 9)), show(floors(x, 9, 8)), whole(x))
  print(1 / floor(x), 1 / ceil(x), 1 / abs(x))
end

-- the sign of a zero, and of what is no number
local zeros = 0
for i = 1, 100 do
  local z = i % 2 == 0 and 0.0 or -0.0
  if 1 / abs(z) > 0 then zeros = zeros + 1 end
  if 1 / max(z, -0.0) < 0 then zeros = zeros + 100 end
  if 1 / min(0.0, z) > 0 then zeros = zeros + 10000 end
end
print(zeros)

-- largest and smallest: of one kind, of both kinds, with what is no number
local big, small, mixed = math.mininteger, math.maxinteger, 0
for i = 1, 150 do
  local k = (i * 7919) % 101 - 50
  big = max(big, k, -k)
  small = min(small, k, k * 2)
  mixed = mixed + max(k, 0.5) + min(k + 0.25, 3, i)
end
print(big, small, mixed)
local order = {}
for i = 1, 80 do
  local x = i > 60 and nan or i * 1.0
  order[#order + 1] = show(max(x, 1.0)) .. "/" .. show(max(1.0, x)) .. "/" .. show(min(x, 1.0)) .. "/" .. show(min(x))
end
print(order[1], order[60], order[61], order[80])
local edge = 0
for i = 1, 100 do
  local n = max(math.maxinteger - i, 2.0^63)
  local m = min(math.maxinteger - i, 2.0^63)
  if math.type(n) == "float" then edge = edge + 1 end
  if math.type(m) == "integer" then edge = edge + 1000 end
end
print(edge)

-- integers: absolute value of the smallest, remainders, unsigned order
local sum, less = 0, 0
for i = 1, 150 do
  sum = sum + abs(75 - i) + math.fmod(i - 75, 7) + math.fmod(i - 75, -7)
  if math.ult(i, -i) then less = less + 1 end
  if math.ult(i, 75.0) then less = less + 1000 end
end
print(sum, less, abs(math.mininteger))
for _, divisor in ipairs { -1, 1, 3, -3, math.mininteger, 2.5, -0.0, huge, nan } do
  local r, s
  for i = 1, 20 do r, s = math.fmod(math.mininteger + i - 20, divisor), math.fmod(i - 10.5, divisor) end
  print(show(divisor), show(r), show(s))
end
local smallest = 0
for i = 1, 60 do
  local n = i < 50 and -i or math.mininteger
  smallest = abs(n)
end
print(smallest)

-- kinds
local kinds = { integer = 0, float = 0, other = 0 }
for i = 1, 150 do
  local v = i % 3 == 0 and i or i % 3 == 1 and i + 0.0 or tostring(i)
  local kind = math.type(v) or "other"
  kinds[kind] = kinds[kind] + 1
end
print(kinds.integer, kinds.float, kinds.other)
local fit = 0
for i = 1, 150 do
  fit = fit + (math.tointeger(i / 2) or 1000) + (math.tointeger(i) or 0)
end
print(fit, math.tointeger("8"), math.tointeger({}))

-- a function of the library that has another name, and one that is exchanged while the loop runs
local results = {}
local real = math.floor
local t = { round = math.ceil }
for i = 1, 200 do
  if i == 120 then math.floor = function (x) return -x end end
  if i == 150 then t.round = real end
  if i == 180 then math.floor = math.ceil end
  results[i] = math.floor(i + 0.5) + t.round(0.25)
end
math.floor = real
print(results[1], results[119], results[120], results[149], results[150], results[179], results[180], results[200])
