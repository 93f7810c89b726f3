-- The first closure of a function is hot before the second one is made.
local function counter(by)
  local function scaled(x) return x * by end
  return function (n)
    local s = 0
    for i = 1, n do s = s + scaled(i) end
    return s
  end
end
local one = counter(1)
for _ = 1, 40 do one(50) end
local two, half = counter(2), counter(0.5)
print(one(1000), two(1000), half(1000))
for _ = 1, 40 do one(50) two(50) half(50) end
print(one(300), two(300), half(300))

-- a variable of a block is another one in each iteration
local functions = {}
for i = 1, 40 do
  local square = i * i
  functions[i] = function (x) return x + square + i end
end
local s = 0
for round = 1, 60 do
  for i = 1, #functions do s = s + functions[i](round) end
end
print(s)

-- goto leads back before the declaration
do
  local n, kept = 0, {}
  ::again::
  local fresh = n * 10
  kept[#kept + 1] = function () return fresh end
  n = n + 1
  if n < 30 then goto again end
  local sum = 0
  for _ = 1, 100 do
    for i = 1, #kept do sum = sum + kept[i]() end
  end
  print(sum)
end

-- repeat: the condition sees the variable
local k, last = 0, nil
repeat
  local seen = k
  local function get() return seen end
  for _ = 1, 50 do last = get() end
  k = k + 1
until seen >= 60
print(k, last)

-- assigned two functions further in, or after the closure was made
local deep = 1
local function get_deep(x) return deep + x end
local function outer() return function () deep = deep + 1 end end
local bump = outer()
local late = 5
local function get_late() return late end
local t = 0
for i = 1, 1500 do
  t = t + get_deep(i) + get_late()
  if i % 300 == 0 then bump() late = late + i end
end
print(t, deep, late)
