-- The stack of Lua functions is full: in recursion that hot loops call, with what follows it.
local deepest
local function down(n, limit)
  local a, b, c, d, e, f, g, h, i, j, k, l = n, n, n, n, n, n, n, n, n, n, n, n
  deepest = n
  if n == limit then return a end
  return (a + down(n + 1, limit)) % 1000
end
local function through(n, limit)
  local a, b, c, d, e, f, g, h, i, j, k, l = n, n, n, n, n, n, n, n, n, n, n, n
  deepest = n
  local s = 0
  if n == limit then return s end
  for i = 1, 3 do
    s = (s + i) % 1000
    if i == 3 then s = s + through(n + 1, limit) end
  end
  return s % 1000 + a % 7
end
local function tail(n) deepest = n if n > 5000 then return n end return tail(n + 1) end
local s = 0
for i = 1, 30 do s = s + down(1, i * 9 % 50) + through(1, i * 7 % 50) end
print(s)
for i = 1, 2 do
  local ok, e = pcall(down, 1)
  print(i, ok, deepest, (tostring(e):gsub("\n.*", ""):sub(-60)))
  ok, e = pcall(through, 1)
  print(i, ok, deepest, (tostring(e):gsub("\n.*", ""):sub(-60)))
  print(i, tail(i), deepest, down(1, 300), through(1, 300))
end
