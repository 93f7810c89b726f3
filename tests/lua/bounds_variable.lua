-- The loop's variable is a copy of a hidden index: assigned, captured, changed from outside, or another loop's as well.
local function array(n)
  local t = {}
  for i = 1, n do t[i] = i end
  return t
end
local t = array(100)

local s = 0
for i = 1, 100 do
  s = s + t[i]
  i = i + 50
  s = s + (t[i] or 0)
end
print(s)
for i = 1, 100 do
  if i % 10 == 0 then i = -i end
  s = s + (t[i] or 1000)
end
print(s)

-- A loop at the very beginning of the body jumps back to where the body begins, with another value in the variable.
local s, turns = 0, 0
for i = 1, 60 do
  repeat
    s = s + (t[i] or 0.5)
    i = i + 40
    turns = turns + 1
  until i > 100
  s = s + (t[i - 40] or 0.25)
end
print(s, turns)
for i = 60, 1, -1 do
  repeat
    s = s + (t[i] or 0.5)
    i = i - 17
  until i <= 0
end
print(s)
for i = 1, 60 do
  ::again::
  s = s + (t[i] or 0.5)
  if i < 90 and i % 7 ~= 0 then
    i = i + 30
    goto again
  end
end
print(s)
for i = 1, 60 do
  while i < 130 do
    s = s + (t[i] or 0.125)
    i = i + 29
  end
end
print(s)
for i = 1, 30 do
  for i = i, i + 30 do s = s + (t[i] or 3) + (t[i - 30] or 5) end
end
print(s)

-- What closures capture are copies, too.
local all = {}
for i = 1, 80 do
  all[i] = function() i = i + 1; return t[i] end
end
for i = 1, 80 do s = s + all[i]() + (all[i]() or 0) end
print(s)

-- Float loops and integer loops through the same code.
local function through(from, to, step)
  local s = 0
  for i = from, to, step do s = s + (t[i] or 0.5) end
  return s
end
for round = 1, 20 do
  print(through(1, 100, 1), through(1.0, 100, 1), through(100, 1, -1), through(1, 101, 1), through(1, 100, 3), through(0.5, 60, 1))
end

-- While loops whose index is changed twice, by something else, or back.
local i, s = 1, 0
while i <= 100 do
  s = s + t[i]
  i = i + 1
  if i % 5 == 0 then i = i + 2 end
end
print(i, s)
local i, by, s = 1, 1, 0
while i <= 300 do
  s = s + (t[i] or 1)
  i = i + by
  if i % 16 == 0 then by = by + 1 end
end
print(i, s)
local i, s = 100, 0
while i >= 1 do
  s = s + t[i] * (t[i + 1] or 1)
  i = i - 1
end
print(i, s)
local low, high, s = 1, 100, 0
while low < high do
  s = s + t[low] * 2 - t[high]
  low, high = low + 1, high - 1
end
print(low, high, s)
local i, n, s = 1, 100, 0
while i <= n do
  s = s + (t[i] or 0.5)
  i = i + 1
  n = n + (i % 4 == 0 and 1 or 0)
end
print(i, n, s)
