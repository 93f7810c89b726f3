-- Upvalues of all kinds: closed and open, numbers and tables, written and read, shared and separate.
local total, scale, list = 0, 0.5, {}
local function add(n)
  for i = 1, n do
    total = total + i
    scale = scale * 1.01
    list[i] = total
  end
end
add(20) add(5)
print(total, string.format("%.12g", scale), #list, list[3], list[20])

local function counter(start, step)
  local n = start
  return function(times)
    for i = 1, times do n = n + step end
    return n
  end
end
local c1, c2, c3 = counter(0, 1), counter(100, 2), counter(0.5, 0.25)
print(c1(10), c2(10), c3(10), c1(5), c2(5), c3(5), c1(0))

local flag = false
local function toggle(n) for i = 1, n do flag = not flag end return flag end
print(toggle(7), toggle(8), toggle(1))

local mixed = 1
local function grow(n) for i = 1, n do mixed = mixed * 2; if i == 6 then mixed = mixed + 0.5 end end return mixed end
print(grow(10), grow(3))

local cell = nil
local function chain(n) for i = 1, n do cell = { cell, i } end end
chain(12)
local depth = 0
while cell do depth = depth + cell[2]; cell = cell[1] end
print(depth)

local function outer()
  local seen = 0
  local function inner() for i = 1, 10 do seen = seen + i end end
  for i = 1, 5 do inner(); seen = seen * 2 end
  return seen
end
print(outer(), outer())
local keep = {}
local function store(n) local last; for i = 1, n do keep = keep; last = keep end return last == keep end
print(store(20))
