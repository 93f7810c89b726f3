-- Functions of the C library, and random numbers: the state must advance by the same steps in compiled code.
local show = function (x) return string.format("%.17g", x) end
local s = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
for i = 1, 200 do
  local x = i * 0.01
  s[1] = s[1] + math.sin(x)
  s[2] = s[2] + math.cos(x)
  s[3] = s[3] + math.tan(x)
  s[4] = s[4] + math.asin(x / 2)
  s[5] = s[5] + math.acos(x / 2)
  s[6] = s[6] + math.atan(x) + math.atan(x, -i) + math.atan(i, nil)
  s[7] = s[7] + math.exp(x)
  s[8] = s[8] + math.log(x) + math.log(i)
  s[9] = s[9] + math.deg(x) + math.rad(i)
  s[10] = s[10] + math.fmod(x, 0.3) + math.fmod(-i, 0.7)
end
for i = 1, #s do print(i, show(s[i])) end
local logs = 0.0
for i = 1, 200 do
  local base = i < 50 and 2 or i < 100 and 10 or i < 150 and 2.5 or i == 160 and 1 or i
  logs = logs + math.log(i, base) % 7
end
print(show(logs))
for _, x in ipairs { -1, 0.0, -0.0, 1 / 0, -1 / 0, 0 / 0, 1e300 } do
  local r
  for i = 1, 30 do
    r = { math.sin(x), math.asin(x), math.exp(x), math.log(x), math.log(x, 2), math.log(x, 10), math.atan(x, -0.0), math.sqrt(x) }
  end
  for n = 1, #r do r[n] = show(r[n]) end
  print(table.concat(r, " "))
end

local random = math.random
math.randomseed(42)
local sum, ints, bits, floats = 0.0, 0, 0, 0
for i = 1, 200 do
  sum = sum + random()
  ints = ints + random(6) * random(-3, i)
  bits = bits ~ random(0)
  floats = floats + random(10.0) + random(math.mininteger, math.maxinteger) % 7
end
print(show(sum), ints, bits, floats, random(1000))
-- a bound that becomes 0, whose meaning is another one, and a seed set while the loop runs
math.randomseed(7)
local mix = 0
for i = 1, 200 do
  if i == 100 then math.randomseed(7) end
  mix = mix ~ random(i % 50) ~ random(i, i + 3)
end
print(mix, random(1000))
-- as the last value of a call and of a function
local function die () return random(6) end
local function pair () return random(3), random(4) end
math.randomseed(1, 2)
local total = 0
for i = 1, 200 do
  local x, y = pair()
  total = total + math.max(die(), pair()) * x - y + math.min(random(2, 9), pair())
end
print(total, random(100000))
