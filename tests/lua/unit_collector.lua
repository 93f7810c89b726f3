-- The collector in a recursion: whole cycles and steps at some depth, weak tables, finalizers that recurse,
-- objects that only a level holds, virtual or not.
local weak = setmetatable({}, { __mode = "v" })
local function hold(n, every)
  local mine = { n = n }
  weak[n] = mine
  if n % every == 0 then collectgarbage() end
  if n == 0 then return 0 end
  local r = hold(n - 1, every)
  return weak[n] == mine and r + mine.n or -1000
end
for i = 1, 20 do print(i, hold(i, 7), hold(i, 1000)) end
collectgarbage()
print(next(weak))

local finalized, sum = 0, 0
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local function doomed(n)
  return setmetatable({ n = n }, { __gc = function(o) finalized = finalized + 1 sum = sum + fib(o.n) end })
end
local function make(n)
  if n == 0 then collectgarbage() return 0 end
  local d = doomed(n % 9)
  local r = make(n - 1)
  d = d.n
  if n % 4 == 0 then collectgarbage("step") end
  return r + d
end
for i = 1, 10 do print(i, make(i)) end
collectgarbage()
collectgarbage()
print(finalized, sum)

local function tree(n) if n == 0 then return {} end return { tree(n - 1), tree(n - 1) } end
local function check(t) if t[1] then return 1 + check(t[1]) + check(t[2]) end return 1 end
for n = 0, 7 do
  local long = tree(n)
  for i = 1, 3 do io.write(check(tree(n)), " ") end
  collectgarbage("step")
  print(check(long))
end
local before = collectgarbage("generational")
for n = 0, 7 do io.write(check(tree(n)), " ") end
collectgarbage(before)
collectgarbage("stop")
for n = 0, 7 do io.write(check(tree(n)), " ") end
collectgarbage("restart")
print()
local keys = setmetatable({}, { __mode = "k" })
local function remember(n, last)
  if n == 0 then collectgarbage() local c = 0 for _ in pairs(keys) do c = c + 1 end return c end
  local key = { last }
  keys[key] = n
  local r = remember(n - 1, key)
  return keys[key] == n and r or -1
end
for n = 1, 10, 3 do print(n, remember(n)) end
