-- Units that loops of all kinds call, loops that a recursion calls, and recursion within the bodies of loops.
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local function sum(n) if n <= 0 then return 0 end return n + sum(n - 1) end
local s = 0
for i = 1, 60 do s = s + fib(i % 10) end
print(s)
for i = 10, 1, -0.5 do s = s + sum(i) end
print(s)
local i = 0
while sum(i) < 400 do i = i + 1 end
print(i)
repeat local f = fib(i % 13) i = i - 1 until f == 8
print(i)
for k, v in pairs { 3, 5, 7, 9 } do s = s - fib(v) * k end
for word in ("7 8 9 x 3"):gmatch("%S+") do s = s + fib(tonumber(word) or 1) end
print(s)
for a = 1, 8 do
  for b = 1, 8 do
    if a == b then goto next end
    s = s + fib(a) * sum(b)
    if s > 1e5 then s = s % 977 break end
    ::next::
  end
end
print(s)
local t = {}
for n = 1, 50 do t[n] = n % 10 == 0 and sum(n + 0.5) or n % 7 == 0 and fib(n % 9) or sum(n % 12) end
print(table.concat(t, " "))

-- The loop's own variables are arguments, results and captured.
local total = 0
local function add(n) if n == 0 then return end total = total + n add(n - 1) end
for n = 1, 40 do
  local before = total
  add(n % 9)
  if total - before ~= sum(n % 9) then print("wrong", n) end
  if n % 10 == 0 then io.write(total, " ") total = total + 0.5 end
end
print(total)
local function looped(n)
  local r = 0
  for k = 1, n do r = r + looped(k - 1) + 1 end
  return r
end
local function tree(n)
  if n == 0 then return 1 end
  local c = 0
  for _ = 1, 3 do c = c + tree(n - 1) end
  return c
end
local function with_while(n)
  local c = n
  while c > 0 do
    c = c - 1
    if c % 3 == 0 then return c + with_while(c) end
  end
  return n
end
for n = 0, 7 do io.write(looped(n), " ", tree(n % 6), " ", with_while(n * 3), "; ") end
print()
local function grid(x, y, seen, w)
  local key = x * w + y
  if x < 0 or y < 0 or x >= w or y >= w or seen[key] then return 0 end
  seen[key] = true
  local r = 1
  r = r + grid(x + 1, y, seen, w) + grid(x - 1, y, seen, w)
  r = r + grid(x, y + 1, seen, w) + grid(x, y - 1, seen, w)
  return r
end
for w = 1, 12 do
  io.write(grid(w // 2, w // 2, { [3] = true, [w + 2] = true, [2 * w + 1] = w > 4 }, w), " ")
end
print()
