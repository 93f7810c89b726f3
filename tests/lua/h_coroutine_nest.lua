-- Coroutines that each wait in the same loop, resumed by one another, while recordings of that loop wait.
local function loop(n, child)
  local s = 0
  for i = 1, n do
    s = s + i
    if child and i % 2 == 0 then
      local v = child(i)
      if v then s = s + v else child = nil end
    else
      s = s + (coroutine.yield(s) or 0)
    end
  end
  return s
end
local function chain(depth, n)
  return coroutine.wrap(function() return loop(n, depth > 0 and chain(depth - 1, n) or nil) end)
end
for depth = 0, 5 do
  local f = chain(depth, 14)
  local values = {}
  for i = 1, 40 do
    local ok, v = pcall(f, i)
    values[#values + 1] = ok and tostring(v) or "x"
    if not ok then break end
  end
  print(depth, #values, table.concat(values, " "))
end
-- A ring of producers and filters.
local function numbers(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield(i) end end) end
local function filter(source, f)
  return coroutine.wrap(function()
    for v in source do
      local r = f(v)
      if r then coroutine.yield(r) end
    end
  end)
end
local source = numbers(60)
for k = 2, 7 do source = filter(source, function(v) return v % k ~= 0 and v + k end) end
local t = {}
for v in source do t[#t + 1] = v end
print(#t, table.concat(t, ","))
-- Recursion of generators: each level has the loop.
local function walk(tree)
  if type(tree) == "table" then
    for i = 1, #tree do walk(tree[i]) end
  else
    coroutine.yield(tree)
  end
end
local sum = 0
local tree = { 1, { 2, 3, { 4, 5, { 6 } } }, { { 7 }, 8 }, 9 }
for round = 1, 12 do
  for v in coroutine.wrap(function() walk(tree) end) do sum = sum * 3 % 10007 + v end
end
print(sum)
