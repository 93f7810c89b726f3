-- Recursion in coroutines: yields at the bottom, at each level, seldom, after it got hot; many coroutines
-- with small stacks; recursion of two kinds in turn; coroutines that are left unfinished.
local yield = coroutine.yield
local total = 0
local function walk(n, every)
  if n == 0 then return 0 end
  total = total + 1
  if every > 0 and n % every == 0 then total = total + yield(n) end
  return walk(n - 1, every) + 1
end
for i = 1, 20 do walk(i, 0) end
print(total)
for every = 1, 9, 2 do
  local co = coroutine.create(walk)
  local ok, v = coroutine.resume(co, 20, every)
  local list = {}
  while coroutine.status(co) == "suspended" do
    list[#list + 1] = v
    ok, v = coroutine.resume(co, every)
  end
  print(every, ok, v, total, table.concat(list, " "))
end

local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local list = {}
for i = 1, 30 do
  list[i] = coroutine.wrap(function(n)
    local s = 0
    while true do
      s = s + fib(n) + walk(n, 0)
      n = yield(s)
    end
  end)
end
for round = 1, 5 do
  local s = 0
  for i = 1, 30 do s = s + list[i]((i + round) % 11) end
  print(round, s, total)
end

-- Depth grows while coroutines stand in the middle.
local function deep(n)
  if n == 0 then yield("bottom") return 0 end
  return deep(n - 1) + 1
end
local some = {}
for i = 1, 8 do some[i] = coroutine.create(deep) end
for i = 1, 8 do io.write(tostring(select(2, coroutine.resume(some[i], i * i * 10))), " ") end
for i = 1, 8, 2 do io.write(tostring(select(2, coroutine.resume(some[i]))), " ") end
for i = 2, 8, 2 do io.write(tostring(coroutine.close(some[i])), coroutine.status(some[i]), " ") end
print()

-- A coroutine at each level.
local function nest(n)
  if n == 0 then return 1 end
  local co = coroutine.wrap(nest)
  local r = n % 2 == 0 and co(n - 1) or nest(n - 1)
  return r * 2
end
for n = 0, 10 do io.write(nest(n), " ") end
print()
local function tree(n) if n == 0 then yield(total) else tree(n - 1) tree(n - 1) end end
local leaves = 0
for t in coroutine.wrap(function() tree(6) end) do leaves = leaves + 1 total = total + leaves end
print(leaves, total)
