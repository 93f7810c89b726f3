-- debug.upvaluejoin: a variable that is fixed where it was declared, assigned by a function that joined it.
local n = 1
local function get(x) return x + n end
local m = 100
local function add() m = m + 1 return m end
local s = 0
for i = 1, 1000 do s = s + get(i) end
print(s)
debug.upvaluejoin(add, 1, get, 1)  -- add's m is n now
for i = 1, 1000 do
  s = s + get(i)
  if i % 100 == 0 then add() end
end
print(s, n, m)
-- the other way around, in the loop
local other = 1000
local function of_other() return other end
for i = 1, 1000 do
  s = s + get(i)
  if i == 500 then debug.upvaluejoin(get, 1, of_other, 1) end
end
print(s, n, other, debug.upvalueid(get, 1) == debug.upvalueid(of_other, 1))
-- closures of one function that were joined before they are hot
local function make(k) return function (x) return x * k end, function (v) k = v end end
local twice, set_twice = make(2)
local thrice = make(3)
debug.upvaluejoin(thrice, 1, twice, 1)
local r = 0
for i = 1, 1500 do
  r = r + thrice(i)
  if i == 750 then set_twice(11) end
end
print(r, twice(1), thrice(1))
-- seen through functions that are constants themselves
local level, gap = 1, 50
local function read(x) return x + level end
local function through(x) return read(x) end
local function raise() gap = gap + 1 end
local function run(n)
  local sum = 0
  for i = 1, n do sum = sum + through(i) end
  return sum
end
local p = run(400)
debug.upvaluejoin(raise, 1, read, 1)  -- raise's gap is level now
p = p + run(400)
for _ = 1, 5 do
  raise()
  p = p + run(300)
end
print(p, level, gap)
local apart = 9
local function of_apart() return apart end
local function watch(x) return x * apart end
local function run_watch(n)
  local sum = 0
  for i = 1, n do
    sum = sum + watch(i)
    if i == 300 then debug.upvaluejoin(watch, 1, of_other, 1) end
  end
  return sum
end
print(run_watch(600), run_watch(200))
