-- Stack overflow in recursion that got hot: the exact depth where it comes, caught at the top and on the way,
-- its message, and what works afterwards. In coroutines, whose stacks hold nothing else.
local depth = 0
local function endless(n)
  depth = depth + 1
  return endless(n + 1) + 1
end
local function count(n) if n == 0 then return 0 end return count(n - 1) + 1 end
for i = 1, 30 do count(i) end
print((pcall(endless, 1)))
print(depth > 100000, count(1000))
local function more(n, a, b, c)
  depth = n
  local x, y, z = a + 1, b + 1, c + 1
  local r = more(n + 1, x, y, z)
  return r
end
local function find(n)
  if n == 0 then return pcall(endless, 1) end
  local ok, e = find(n - 1)
  return ok, e
end
local function inside(n, levels)
  if n == 0 then return (pcall(count, levels)) end
  local r = inside(n - 1, levels)
  return r
end
local function in_coroutine(...)
  depth = 0
  local result = table.pack(coroutine.wrap(pcall)(...))
  for i = 1, result.n do result[i] = tostring(result[i]) end
  print(depth, table.concat(result, " "))
end
in_coroutine(endless, 1)
in_coroutine(more, 1, 0, 0.5, 1)
in_coroutine(find, 10)
in_coroutine(find, 20010)
in_coroutine(inside, 1000, 2000)
print(count(2000), inside(5, 10))
