-- Arrays that change while a loop goes through them: they grow, shrink, are cleared, and others take their places.
local function array(n)
  local t = {}
  for i = 1, n do t[i] = i end
  return t
end

-- Appended to: the loop goes on behind what was the end.
for extra = 0, 40, 10 do
  local t = array(20)
  local s = 0
  for i = 1, 60 + extra do
    t[#t + 1] = i
    s = s + t[i]
  end
  print(#t, s)
end
local t, filled = {}, 0
for i = 1, 200 do
  t[i] = i
  filled = filled + #t
end
print(#t, filled)
for i = 1, 150 do t[i] = t[i] + t[i + 50] end
print(t[1], t[150], t[151])

-- Shrunk from behind, towards the index.
for length = 30, 130, 25 do
  local t, seen, missing = array(length), 0, 0
  for i = 1, length do
    if t[i] then seen = seen + t[i] else missing = missing + 1 end
    t[#t] = nil
  end
  print(length, seen, missing, #t)
end
local t, i, s = array(100), 1, 0
while i <= #t do
  s = s + t[i]
  if i % 3 == 0 then t[#t] = nil end
  i = i + 1
end
print(i, s, #t)

-- Cleared at the index, and filled anew from the other side.
local t, s = array(90), 0
for i = 90, 1, -1 do
  s = s + t[i] + (t[i + 1] or 0)
  t[i] = nil
end
print(s, next(t))
for i = 90, 1, -1 do t[i] = i end
for i = 1, 90 do s = s - t[i] end
print(s)

-- Replaced by shorter and longer ones.
local function replaced(lengths, n)
  local which, t, s = 1, array(lengths[1]), 0
  for i = 1, n do
    s = s + (t[i] or -1)
    if i % 25 == 0 then
      which = which % #lengths + 1
      t = array(lengths[which])
    end
  end
  return s
end
for round = 1, 6 do print(replaced({ 100, 40, 200, 0, 60 }, 100), replaced({ 30 }, 100), replaced({ 100, 100 }, 100)) end

-- Two in turn, each with a length of its own.
local a, b, s = array(80), array(50), 0
for i = 1, 80 do
  s = s + (a[i] or 1000)
  a, b = b, a
end
print(s)
local three, s = { array(70), array(35), array(10) }, 0
for i = 1, 70 do
  s = s + (three[1][i] or 1000)
  three[1], three[2], three[3] = three[2], three[3], three[1]
end
print(s)

-- Changed in a function that the loop calls, and by the library.
local t = array(60)
local function drop() t[#t] = nil end
local s = 0
for i = 1, 60 do
  s = s + (t[i] or 0.5)
  if i % 2 == 0 then drop() end
end
print(s, #t)
local t, s = array(60), 0
for i = 1, 80 do
  s = s + (t[i] or 0.5)
  table.remove(t)
  if i % 5 == 0 then table.insert(t, 1, i) end
end
print(s, #t)
local t, s = array(60), 0
for i = 1, 60 do
  s = s + t[i]
  for k = 1, 3 do t["key" .. i .. k] = i end
end
print(s)

-- Sieve: the inner loop's step and start change with the outer one.
local sieve, primes = {}, 0
for i = 1, 300 do sieve[i] = true end
for i = 2, 300 do
  if sieve[i] then
    primes = primes + 1
    for j = i * i, 300, i do sieve[j] = false end
  end
end
print(primes)
-- Bubbles.
local t = {}
for i = 1, 60 do t[i] = (i * 37) % 61 end
for last = #t, 2, -1 do
  for i = 1, last - 1 do
    if t[i] > t[i + 1] then t[i], t[i + 1] = t[i + 1], t[i] end
  end
end
print(table.concat(t, " "))
