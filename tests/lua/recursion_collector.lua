-- The collector at each call of a recursion: steps, whole cycles, weak tables that lose their entries, and
-- finalizers that call functions of their own.
local function sum(n, mode)
  if n == 0 then return 0 end
  local box = { n }
  if mode == 1 then collectgarbage("step")
  elseif mode == 2 and n % 8 == 0 then collectgarbage()
  elseif mode == 3 and n % 4 == 0 then collectgarbage("step", 10) end
  local r = sum(n - 1, mode)
  return r + box[1]
end
for mode = 0, 3 do
  for n = 5, 25, 10 do print(mode, n, sum(n, mode), sum(n + 0.0, mode)) end
end

-- What is held only by a level of the recursion lives as long as the level does.
local weak = setmetatable({}, { __mode = "v" })
local function hold(n)
  local mine = { n = n, text = "t" .. n }
  weak[n] = mine
  if n == 0 then
    collectgarbage()
    local alive = 0
    for i = 0, 30 do if weak[i] then alive = alive + 1 end end
    return alive
  end
  local r = hold(n - 1)
  if weak[n] ~= mine or mine.n ~= n then return -1 end
  return r
end
for n = 0, 12, 4 do print(n, hold(n)) end
collectgarbage()
local left = 0
for i = 0, 30 do if weak[i] then left = left + 1 end end
print(left)

-- Finalizers that recurse, and that make further objects with finalizers.
local finalized, total = 0, 0
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local function object(n)
  return setmetatable({ n = n }, { __gc = function(o)
    finalized = finalized + 1
    total = total + fib(o.n)
    if o.n > 6 then object(o.n - 3) end
  end })
end
local function make(n)
  if n == 0 then return 0 end
  local o = object(n)
  local r = make(n - 1)
  return r + o.n
end
for i = 1, 4 do print(i, make(i + 4)) end
for i = 1, 6 do collectgarbage() end
print(finalized, total)

-- Keys that are gone: an ephemeron table in a recursion that keeps every other key.
local ephemeron = setmetatable({}, { __mode = "k" })
local function keys(n, kept)
  if n == 0 then return end
  local key = {}
  ephemeron[key] = { key, n }
  if n % 2 == 0 then kept[#kept + 1] = key end
  keys(n - 1, kept)
end
local function survivors()
  local count, s = 0, 0
  for k, v in pairs(ephemeron) do
    if v[1] == k then count = count + 1 end
    s = s + v[2]
  end
  return count, s
end
local function round(n)
  local kept = {}
  keys(n, kept)
  collectgarbage()
  local a, b = survivors()
  kept[#kept] = nil
  return a, b, #kept
end
for n = 2, 14, 4 do
  local a, b, c = round(n)
  print(n, a >= n // 2, b >= 0, c)
end
collectgarbage()
collectgarbage()
print(survivors())

-- A generational collector and an incremental one, changed on the way down.
local before = collectgarbage("incremental")
local function switch(n)
  if n == 0 then return "" end
  collectgarbage(n % 2 == 0 and "generational" or "incremental")
  local s = "x" .. n
  return switch(n - 1) .. s
end
for n = 4, 12, 4 do print(switch(n)) end
collectgarbage(before)
