-- An event loop: coroutines that sleep, send and receive over channels, fail, are cancelled, and are joined.
local now, order, queue, trail = 0, 0, {}, {}
local function schedule(delay, task, value)
  order = order + 1
  local event = { at = now + delay, order = order, task = task, value = value }
  local i = #queue
  queue[i + 1] = event
  while i >= 1 and (queue[i].at > event.at or queue[i].at == event.at and queue[i].order > event.order) do
    queue[i + 1] = queue[i]
    i = i - 1
  end
  queue[i + 1] = event
end
local function note(...) trail[#trail + 1] = table.concat({ now, ... }, " ") end
local function spawn(name, f, ...)
  local task = { name = name, waiting = {} }
  local arguments = table.pack(...)
  task.co = coroutine.create(function() return f(table.unpack(arguments, 1, arguments.n)) end)
  schedule(0, task)
  return task
end
local function finish(task, ok, result)
  task.done, task.ok, task.result = true, ok, result
  for _, waiter in ipairs(task.waiting) do schedule(0, waiter, result) end
end
local current
local function run(limit)
  local steps = 0
  while #queue > 0 and steps < limit do
    steps = steps + 1
    local event = table.remove(queue, 1)
    now = event.at
    local task = event.task
    if not task.done then
      current = task
      local ok, what, argument = coroutine.resume(task.co, event.value)
      current = nil
      if coroutine.status(task.co) == "dead" then
        if not ok then note(task.name, "failed:", tostring(what)) end
        finish(task, ok, what)
      elseif what == "sleep" then schedule(argument, task)
      end
    end
  end
  return steps
end
local function sleep(n) coroutine.yield("sleep", n) end
local function join(task)
  if not task.done then
    task.waiting[#task.waiting + 1] = current
    coroutine.yield("wait")
  end
  return task.ok, task.result
end
local function channel() return { values = {}, readers = {} } end
local function send(c, v)
  local reader = table.remove(c.readers, 1)
  if reader then schedule(0, reader, v) else c.values[#c.values + 1] = v end
end
local function receive(c)
  if #c.values > 0 then return table.remove(c.values, 1) end
  c.readers[#c.readers + 1] = current
  return (coroutine.yield("wait"))
end
local numbers, squares = channel(), channel()
local producer = spawn("producer", function(n)
  for i = 1, n do
    send(numbers, i)
    if i % 5 == 0 then sleep(3) end
  end
  send(numbers, false)
  return n
end, 80)
for w = 1, 2 do
  spawn("worker" .. w, function()
    local done = 0
    while true do
      local v = receive(numbers)
      if not v then
        send(numbers, false)
        note("worker" .. w, done)
        send(squares, false)
        return done
      end
      send(squares, v * v)
      done = done + 1
      sleep(w)
    end
  end)
end
local collector = spawn("collector", function()
  local sum, ended = 0, 0
  repeat
    local v = receive(squares)
    if v then sum = sum + v else ended = ended + 1 end
  until ended == 2
  note("sum", sum)
  return sum
end)
local ticks = 0
local clock = spawn("clock", function() while true do sleep(10) ticks = ticks + 1 end end)
local failing = spawn("failing", function() sleep(7) error({ reason = "tired" }) end)
spawn("main", function()
  note("joined", tostring(join(producer)), producer.result)
  local ok, result = join(collector)
  note("collected", tostring(ok), result)
  ok, result = join(failing)
  note("failing", tostring(ok), result.reason)
  clock.done = true
end)
local steps = run(2000)
print(steps, now, ticks, #queue)
for _, line in ipairs(trail) do print((line:gsub("table: %S+", "a table"))) end
local ping = coroutine.wrap(function(a) local n = 0 while true do n = n + a a = coroutine.yield(n) end end)
local last
for i = 1, 100 do last = ping(i) end
print(last, coroutine.isyieldable(), select("#", coroutine.running()))
