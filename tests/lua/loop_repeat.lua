-- Repeat loops; the condition sees the body's locals.
local i, s = 0, 0
repeat
  i = i + 1
  local done = i >= 40
  s = s + i
until done
print(i, s)
local x = 100
repeat x = x - 3 until x < 0
print(x)
local a, b = 1071, 462
repeat a, b = b, a % b until b == 0
print(a)
local n = 0
repeat n = n + 1 until true
print(n)
local f = 2.0
repeat f = f / 2 until f == 0
print(f)
