-- Finalizers that run in the middle of loops: they set what the loops read, run hot loops, and fail.
warn("@off")
local state, runs = { n = 0, list = {} }, 0
value = 0
local function finalize(o)
  runs = runs + 1
  for i = 1, 12 do state.n = state.n + i % 3 end
  value = value + o.weight
  state.list[#state.list % 8 + 1] = o.weight
  if o.weight % 5 == 0 then error("ignored") end
  if o.weight % 7 == 0 then pcall(error, "caught") end
  if o.weight % 3 == 0 then coroutine.wrap(function() coroutine.yield() end)() end
end
local mt = { __gc = finalize }
local function drop(w) setmetatable({ weight = w }, mt) end
local function collect() collectgarbage() return runs end
local ok = 0
for i = 1, 40 do
  local before = value
  drop(i)
  local n = collect()
  collect()
  if value >= before and runs <= i then ok = ok + 1 end
  if #state.list > 8 then ok = ok - 100 end
end
collectgarbage()
collectgarbage()
print(ok, runs, value, state.n)
-- Their order at the end of a call, resurrection, and tables that they are taken from.
local order = {}
local function named(name)
  return setmetatable({ name = name }, { __gc = function(o) order[#order + 1] = o.name end })
end
local function round(i)
  local a, b = named("a" .. i), named("b" .. i)
  a.other, b.other = b, a
  return i
end
local sum = 0
for i = 1, 20 do
  sum = sum + round(i)
  pcall(collectgarbage)
end
round = nil
collectgarbage()
table.sort(order)
print(sum, #order, order[1], order[40])
local saved = {}
local phoenix = {}
phoenix.__gc = function(o)
  saved[o.id] = o
  if o.lives > 0 then o.lives = o.lives - 1 setmetatable(o, phoenix) end
end
for i = 1, 12 do
  setmetatable({ id = i, lives = i % 3 }, phoenix)
  for k = 1, 4 do collectgarbage() saved[i - 1] = nil end
end
local left = 0
for k = 1, 6 do
  saved = {}
  collectgarbage()
  for _ in pairs(saved) do left = left + 1 end
end
print(left < 20)
