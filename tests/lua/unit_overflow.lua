-- Stack overflow in recursion that got hot: the exact depth where it comes, caught at the top and on the way,
-- its message, in coroutines, and what works afterwards.
local depth = 0
local function endless(n)
  depth = depth + 1
  return endless(n + 1) + 1
end
local function count(n) if n == 0 then return 0 end return count(n - 1) + 1 end
for i = 1, 30 do count(i) end
do
  depth = 0
  local ok, e = pcall(endless, 1)
  print(ok, depth, (e:gsub("\n.*", "")))
  print(count(1000))
end
local function more(n, a, b, c)
  depth = n
  local x, y, z = a + 1, b + 1, c + 1
  local r = more(n + 1, x, y, z)
  return r
end
print(pcall(more, 1, 0, 0.5, 1))
print(depth)
local co = coroutine.wrap(function() return pcall(endless, 1) end)
depth = 0
print(co())
print(depth)

-- From inside a recursion there is less room.
local function inside(n, levels)
  if n == 0 then return (pcall(count, levels)) end
  local r = inside(n - 1, levels)
  return r
end
depth = 0
local function find(n)
  if n == 0 then return (pcall(endless, 1)) end
  local r = find(n - 1)
  return r
end
for n = 10, 20010, 20000 do
  depth = 0
  print(n, find(n), depth, inside(n, 1000))
end
