-- Coroutines: filters in a row, generators over trees, prime numbers, a scheduler with channels.

local yield, wrap, create = coroutine.yield, coroutine.wrap, coroutine.create
local resume, status = coroutine.resume, coroutine.status

local seed = 5
local function random(n)
  seed = seed * 16807 % 2147483647
  return seed % n
end

-- 1. producer | filters | consumer ------------------------------------

local function lines_of_log(n)
  return wrap(function()
    local levels = { "info", "info", "info", "debug", "warn", "error" }
    for i = 1, n do
      yield(string.format("%06d %s unit%d took %d ms", i * 7, levels[random(6) + 1], random(9), random(500)))
    end
  end)
end

local function filter(source, keep)
  return wrap(function()
    for item in source do
      if keep(item) then yield(item) end
    end
  end)
end

local function map(source, f)
  return wrap(function()
    for item in source do yield(f(item)) end
  end)
end

local function batches(source, size)
  return wrap(function()
    local batch = {}
    for item in source do
      batch[#batch + 1] = item
      if #batch == size then
        yield(batch)
        batch = {}
      end
    end
    if #batch > 0 then yield(batch) end
  end)
end

local parsed = map(
  filter(lines_of_log(80000), function(line) return not line:find(" debug ", 1, true) end),
  function(line)
    local time, level, unit, took = line:match("^(%d+) (%a+) unit(%d) took (%d+) ms$")
    return { time = tonumber(time), level = level, unit = tonumber(unit), took = tonumber(took) }
  end)

local slow = filter(parsed, function(r) return r.took > 250 or r.level == "error" end)
local n_batches, per_unit, latest = 0, {}, 0
for batch in batches(slow, 16) do
  n_batches = n_batches + 1
  for _, r in ipairs(batch) do
    per_unit[r.unit] = (per_unit[r.unit] or 0) + r.took
    latest = r.time
  end
end
print("batches " .. n_batches .. ", latest " .. latest)
print("per unit " .. table.concat(per_unit, " ", 0, 8))

-- 2. generators by recursion ------------------------------------------

local function insert(tree, key)
  if not tree then return { key = key } end
  if key < tree.key then
    tree.left = insert(tree.left, key)
  else
    tree.right = insert(tree.right, key)
  end
  return tree
end

local function walk(tree)
  if tree then
    walk(tree.left)
    yield(tree.key)
    walk(tree.right)
  end
end

local function keys(tree)
  return wrap(function() walk(tree) end)
end

-- Do two trees of other shapes hold the same keys? Reads no further than the first difference.
local function same_fringe(a, b)
  local next_a, next_b = keys(a), keys(b)
  local steps = 0
  repeat
    local x, y = next_a(), next_b()
    steps = steps + 1
    if x ~= y then return false, steps end
  until x == nil
  return true, steps
end

local equal, total_steps = 0, 0
for round = 1, 700 do
  local list = {}
  for i = 1, 120 do list[i] = random(1000) end
  local a, b
  for i = 1, #list do a = insert(a, list[i]) end
  if round % 3 == 0 then list[random(120) + 1] = random(1000) end
  for i = #list, 1, -1 do b = insert(b, list[i]) end
  local same, steps = same_fringe(a, b)
  if same then equal = equal + 1 end
  total_steps = total_steps + steps
end
print("equal fringes " .. equal .. ", steps " .. total_steps)

-- Merging sorted streams.
local function merge(a, b)
  return wrap(function()
    local x, y = a(), b()
    while x and y do
      if x <= y then
        yield(x)
        x = a()
      else
        yield(y)
        y = b()
      end
    end
    while x do yield(x); x = a() end
    while y do yield(y); y = b() end
  end)
end

local function arithmetic(first, step, last)
  return wrap(function()
    for i = first, last, step do yield(i) end
  end)
end

local merged, check = 0, 0
for x in merge(merge(arithmetic(1, 3, 130000), arithmetic(2, 7, 130000)), merge(arithmetic(3, 5, 130000), arithmetic(4, 11, 130000))) do
  merged = merged + 1
  check = (check * 3 + x) % 1000003
end
print("merged " .. merged .. ", check " .. check)

-- 3. primes: a chain that grows ---------------------------------------

local function primes()
  return wrap(function()
    local source = wrap(function()
      local n = 2
      while true do yield(n); n = n + 1 end
    end)
    while true do
      local p = source()
      yield(p)
      local upstream = source
      source = wrap(function()
        while true do
          local n = upstream()
          if n % p ~= 0 then yield(n) end
        end
      end)
    end
  end)
end

local last, sum = 0, 0
for chain = 1, 14 do
  local next_prime = primes()
  for _ = 1, 9 * chain do
    last = next_prime()
    sum = sum + last
  end
end
print("primes up to " .. last .. ", sum " .. sum)

-- 4. a scheduler with channels and sleeping ---------------------------

local Scheduler = {}
Scheduler.__index = Scheduler

function Scheduler.new()
  return setmetatable({ ready = {}, first = 1, last = 0, sleeping = {}, time = 0, switches = 0 }, Scheduler)
end

function Scheduler:wake(co)
  self.last = self.last + 1
  self.ready[self.last] = co
end

function Scheduler:spawn(f, ...)
  local args = { ... }
  self:wake(create(function() return f((table.unpack or unpack)(args)) end))
end

function Scheduler:sleep(ticks)
  local wake_at, i = self.time + ticks, #self.sleeping
  while i > 0 and self.sleeping[i].at < wake_at do i = i - 1 end
  table.insert(self.sleeping, i + 1, { at = wake_at, co = coroutine.running() })
  yield()
end

function Scheduler:run()
  while true do
    if self.first <= self.last then
      local co = self.ready[self.first]
      self.ready[self.first] = nil
      self.first = self.first + 1
      self.switches = self.switches + 1
      local ok, message = resume(co)
      if not ok then error(message) end
    else
      local sleeper = table.remove(self.sleeping)
      if not sleeper then return end
      self.time = sleeper.at
      self:wake(sleeper.co)
    end
  end
end

local function channel(scheduler, capacity)
  local items, readers, writers, closed = {}, {}, {}, false
  local c = {}
  function c.send(item)
    while #items >= capacity do
      writers[#writers + 1] = coroutine.running()
      yield()
    end
    items[#items + 1] = item
    if #readers > 0 then scheduler:wake(table.remove(readers, 1)) end
  end
  function c.receive()
    while #items == 0 do
      if closed then return nil end
      readers[#readers + 1] = coroutine.running()
      yield()
    end
    if #writers > 0 then scheduler:wake(table.remove(writers, 1)) end
    return table.remove(items, 1)
  end
  function c.close()
    closed = true
    while #readers > 0 do scheduler:wake(table.remove(readers)) end
  end
  return c
end

local s = Scheduler.new()
local jobs, results = channel(s, 4), channel(s, 4)
local done, handled, result_sum = 0, {}, 0

for p = 1, 3 do
  s:spawn(function(id)
    for i = 1, 9000 do
      jobs.send(id * 10000 + i)
      if i % 5 == id then s:sleep(random(20) + 1) end
    end
    done = done + 1
    if done == 3 then jobs.close() end
  end, p)
end
for w = 1, 5 do
  handled[w] = 0
  s:spawn(function(id)
    for job in jobs.receive do
      local x = job
      for _ = 1, job % 9 do x = (x * x + id) % 10007 end
      handled[id] = handled[id] + 1
      if job % 4 == 0 then s:sleep(id) end
      results.send(x)
    end
    if done == 3 then results.send(false) end
  end, w)
end
local collector = create(function()
  local open = 5
  while open > 0 do
    local x = results.receive()
    if x then result_sum = result_sum + x else open = open - 1 end
  end
end)
s:wake(collector)
s:run()
print(string.format("time %d, switches %d, sum %d, handled %s, %s",
  s.time, s.switches, result_sum, table.concat(handled, " "), status(collector)))
