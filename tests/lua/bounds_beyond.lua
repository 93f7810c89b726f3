-- Loops whose limit lies beyond the array: they leave before, or read nil there; and they come again with other lengths.
local function array(n)
  local t = {}
  for i = 1, n do t[i] = i * 3 end
  return t
end

local function first_nil(t, limit)
  for i = 1, limit do
    if t[i] == nil then return i end
  end
  return 0
end

local function sum_until(t, limit, stop)
  local s = 0
  for i = 1, limit do
    if i > stop then break end
    s = s + t[i]
  end
  return s
end

local function sum_or_zero(t, from, to)
  local s = 0
  for i = from, to do s = s + (t[i] or 1000) end
  return s
end

local t = array(40)
for round = 1, 30 do
  io.write(first_nil(t, 1000), " ", sum_until(t, 1000000, 40), " ", sum_until(t, math.maxinteger, 39), " ")
  print(sum_or_zero(t, 1, 40), sum_or_zero(t, 1, 41), sum_or_zero(t, -3, 44), sum_or_zero(t, 41, 50))
end
for n = 0, 30 do
  local u = array(n)
  io.write(first_nil(u, n), " ", first_nil(u, n + 1), " ", sum_or_zero(u, 1, n), " ", sum_or_zero(u, 0, n + 2), "\n")
end

-- While the limit says so.
local function upto(t, n)
  local i, s = 1, 0
  while i <= n do
    s = s + (t[i] or 7)
    i = i + 1
  end
  return s, i
end
local function below(t, n)
  local i, s = 0, 0
  while i < n do
    i = i + 1
    s = s + (t[i] or 7) + (t[i - 1] or 5) + (t[i + 1] or 11)
  end
  return s, i
end
for n = 0, 60, 3 do print(n, upto(t, n)) print(n, below(t, n)) end
-- The index at the end of the integers.
local function near_the_end(i, n)
  local count = 0
  while i <= n do
    if t[i] then count = count + 1 end
    count = count + 2
    if count > 200 then break end
    i = i + 1
  end
  return count, i
end
print(near_the_end(math.maxinteger - 50, math.maxinteger))
print(near_the_end(math.mininteger, math.mininteger + 60))
print(near_the_end(-20, 60))
local count = 0
for i = math.maxinteger - 70, math.maxinteger do
  if t[i] == nil then count = count + 1 end
  if t[i - math.maxinteger + 41] then count = count + 100 end
end
print(count)
for i = math.mininteger + 70, math.mininteger, -1 do
  if t[i] == nil then count = count + 1 end
  if t[i - math.mininteger] then count = count + 100 end
end
print(count)
