-- Closures and coroutines: variables that both sides of a yield change, generators that are closures over
-- coroutines, producers with filters and consumers, and captured loop variables across yields.
local function counter()
  local n = 0
  local co = coroutine.wrap(function(step)
    while true do
      n = n + step
      step = coroutine.yield(n) or step
    end
  end)
  return co, function(v) n = v end, function() return n end
end
local tick, set, get = counter()
local sum = 0
for i = 1, 400 do
  sum = sum + tick(i % 7)
  if i % 50 == 0 then set(i % 100 == 0 and 0.5 or 0) end
  sum = sum + get()
  if i % 100 == 0 then print(i, sum, get()) end
end

local function produce(n)
  return coroutine.wrap(function()
    for i = 1, n do
      local x = i
      local f = function() x = x + 0.5 return x end
      coroutine.yield(f, x)
      if x ~= i then coroutine.yield(f, -x) end
    end
  end)
end
local function only(test, source)
  return coroutine.wrap(function()
    local seen = 0
    for f, x in source do
      seen = seen + 1
      if test(x, seen) then coroutine.yield(f, x, seen) end
    end
  end)
end
for n = 10, 90, 20 do
  local total, kept = 0, {}
  for f, x, seen in only(function(x, k) return x < 0 or k % 3 ~= 0 end, produce(n)) do
    if x > 0 and x % 2 == 0 then f() end
    total = total + x + seen
    if x % 5 == 0 then kept[#kept + 1] = f end
  end
  local late = 0
  for _, f in ipairs(kept) do late = late + f() end
  print(n, total, #kept, late)
end

-- Tasks that share variables, run in turn by a scheduler that is itself a closure.
local function scheduler()
  local tasks, now = {}, 0
  local function spawn(f, ...)
    local args = table.pack(...)
    tasks[#tasks + 1] = coroutine.create(function() return f(table.unpack(args, 1, args.n)) end)
  end
  local function run()
    while #tasks > 0 do
      now = now + 1
      for i = #tasks, 1, -1 do
        local ok, v = coroutine.resume(tasks[i], now)
        if coroutine.status(tasks[i]) == "dead" then table.remove(tasks, i) end
        if not ok then return now, v end
      end
    end
    return now
  end
  return spawn, run, function() return now end
end
local spawn, run, now = scheduler()
local log, shared = {}, 0
for k = 1, 6 do
  spawn(function(n, name)
    local mine = 0
    for i = 1, n do
      shared = shared + i
      mine = mine + coroutine.yield()
      if i == k then log[#log + 1] = name .. mine end
      if k == 4 and i == 5 then
        spawn(function() shared = shared + 1000 log[#log + 1] = "new" .. now() end)
      end
    end
    log[#log + 1] = name .. "." .. mine
  end, k * 4, "t" .. k)
end
print(run())
print(shared, table.concat(log, " "))
spawn(function() coroutine.yield() error("task", 0) end)
print(run())

-- The same closure inside and outside of the coroutine, with the frame of the variable suspended.
local function suspended(n)
  local x = n
  local function f(d) x = x + d return x end
  while true do
    local v = coroutine.yield(f, x)
    if v == nil then return x end
    x = x * v
  end
end
for n = 1, 4 do
  local co = coroutine.create(suspended)
  local _, f = coroutine.resume(co, n)
  local s = 0
  for i = 1, 50 do
    s = s + f(i % 3)
    local _, _, x = coroutine.resume(co, i % 10 == 0 and 0.5 or 1)
    s = s + x
  end
  print(n, s, coroutine.resume(co), f(1), coroutine.status(co), f(1))
end
local wraps = {}
for i = 1, 10 do
  local sum = 0
  wraps[i] = coroutine.wrap(function()
    for k = i, 1e9, i do
      sum = sum + k
      coroutine.yield(sum)
    end
  end)
end
local all = 0
for round = 1, 40 do
  for i = 1, 10 do if round % i ~= 1 then all = all + wraps[i]() end end
end
print(all)
