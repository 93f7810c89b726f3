-- Loops in called functions: a few iterations each, of fixed and of varying number, up and down, integers and floats, until something
-- holds, over tables, left early, nested, in methods, behind variable arguments, in functions that call themselves, and with errors in the middle.
local function dot(a, b)
  local s = 0
  for i = 1, 3 do s = s + a[i] * b[i] end
  return s
end

local function total(a, first, last, step)
  local s = 0
  for i = first, last, step or 1 do s = s + a[i] * i end
  return s
end

local function find(a, wanted)
  for i = 1, #a do
    if a[i] == wanted then return i, "found" end
  end
  return nil
end

local function product(a, b, n)
  local c = {}
  for i = 1, n do
    local row = {}
    for j = 1, n do
      local s = 0
      for k = 1, n do s = s + a[i][k] * b[k][j] end
      row[j] = s
    end
    c[i] = row
  end
  return c
end

local function norm(...)
  local s, n = 0.0, select("#", ...)
  for i = 1, n do s = s + (select(i, ...)) ^ 2 end
  return s ^ 0.5
end

local Bag = {}
Bag.__index = Bag
function Bag:sum() local s = 0 for x = self.low, self.high, 0.5 do s = s + x end return s end

local function zeros(x) local n = 0 while x & 1 == 0 do x, n = x >> 1, n + 1 end return n end
local function gcd(a, b) while b ~= 0 do a, b = b, a % b end return a end
local function digits(x) local n = 0 repeat x, n = x // 10, n + 1 until x == 0 return n end
local function values(t) local n = 0 for _, v in pairs(t) do n = n + v end return n end
local function listed(t) local n = 0 for i, v in ipairs(t) do n = n + i * v end return n end
local function letters(text) local n = 0 for c in text:gmatch("%a") do n = n + c:byte() end return n end

local function tree(depth)
  local n = 1
  for _ = 1, depth do n = n + tree(depth - 1) end
  return n
end

local function fill(t, n, value)
  for i = n, 1, -1 do t[i] = value end
  return t
end

local u, v, w = { 1, 2, 3 }, { 4, 5.5, 6 }, { 3, 1, 4, 1, 5, 9, 2, 6 }
local bag = setmetatable({ low = 1, high = 2 }, Bag)
local sums, found, missing = { 0, 0, 0, 0, 0 }, 0, 0
for n = 1, 400 do
  u[1] = n
  sums[1] = sums[1] + dot(u, v)
  sums[2] = sums[2] + total(w, 1, n % 9 == 0 and 8 or n % 5)
  sums[3] = sums[3] + total(w, 8, 1 + n % 3, -2)
  local at, word = find(w, n % 12)
  if at then found = found + at * #word else missing = missing + 1 end
  sums[4] = sums[4] + norm(n, 2, n % 4)
  bag.high = n % 7 == 0 and 3.25 or 2
  sums[5] = sums[5] + bag:sum()
end
for i = 1, #sums do print(i, sums[i]) end
print(found, missing)

local bits, divisors, places, all, weighed, bytes = 0, 0, 0, 0, 0, 0
local records = { { a = 1, b = 2 }, { a = 1, b = 2, c = 3 }, { 4, 5, 6 }, { 7, x = 8 }, {} }
for n = 1, 500 do
  bits = bits + zeros(n * 2)
  divisors = divisors + gcd(n, 36)
  places = places + digits(n * n)
  all = all + values(records[n < 250 and 2 or 1 + n % 5])
  weighed = weighed + listed(records[n < 250 and 3 or 1 + n % 5])
  bytes = bytes + letters(n % 50 == 0 and "abc" or "xy")
end
print(bits, divisors, places, all, weighed, bytes)

local m = { { 1, 2 }, { 3, 4 } }
local p = { { 1, 0 }, { 0, 1 } }
for n = 1, 40 do
  p = product(p, m, 2)
  if n % 10 == 0 then p = { { 1, n % 3 }, { 0, 1 } } end
end
print(p[1][1], p[1][2], p[2][1], p[2][2])

local nodes = 0
for n = 1, 30 do nodes = nodes + tree(n % 5) end
print(nodes)

local made = {}
for n = 1, 200 do made[n] = fill({}, n % 6, n) end
local items = 0
for n = 1, #made do items = items + #made[n] * (made[n][1] or 0) end
print(items)

-- An error, and a coroutine that yields, in the middle of such a loop.
local function risky(a, n)
  local s = 0
  for i = 1, n do s = s + a[i].x end
  return s
end
local points = { { x = 1 }, { x = 2 }, { x = 3 } }
local failures, good = 0, 0
for n = 1, 300 do
  local ok, result = pcall(function()
    local s = 0
    for k = 1, 5 do s = s + risky(points, (n % 50 == 0 and k == 4) and 4 or 3) end
    return s
  end)
  if ok then good = good + result else failures = failures + 1 end
end
print(good, failures, select(2, pcall(risky, points, 4)))

local function steps(n) for i = 1, n do coroutine.yield(i) end return "end" end
local walk = coroutine.wrap(function() for n = 1, 60 do steps(n % 4) end return "over" end)
local seen = 0
for value in walk do
  if value == "over" then break end
  seen = seen + value
end
print(seen)

-- A loop that has code of its own is few iterations from here.
local long = {}
for i = 1, 500 do long[i] = i end
local s = 0
for _ = 1, 10 do s = s + total(long, 1, 500) end
for n = 1, 300 do s = s + total(long, n % 400, n % 400 + 2) end
print(s)
