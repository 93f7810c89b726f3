-- own.c in loops: objects, closures, calls back, yields, errors, hooks, the caller's variables.
local own = require("own")

local sum = own.vector(0, 0, 0)
local dots = 0
for i = 1, 3000 do
  local step = own.vector(i, i / 2, 1)
  sum = sum + step
  step[2] = i
  dots = dots + step:dot(sum) % 1000 + #step + step[2]
end
print("vectors", tostring(sum), dots, sum[4], sum.none)
sum = nil
collectgarbage()
print("collected", own.collected())

local next_one, by_three = own.counter(), own.counter(3)
local counted = 0
for _ = 1, 3000 do counted = counted + next_one() * 2 - by_three() end
print("counted", counted)

local mapped = 0
for i = 1, 1000 do
  local list = own.map({ i, i + 1, i + 2 }, function(x) return x * x end)
  mapped = mapped + list[1] + list[3]
end
print("mapped", mapped)

local produce = coroutine.wrap(function()
  for i = 1, 500 do
    local list = own.map({ i, 2 * i }, function(x) return coroutine.yield(x) end)
    coroutine.yield(list[1] + list[2])
  end
  return "end"
end)
local yielded, value = 0, produce()
while value ~= "end" do
  yielded = yielded + value
  value = produce(value + 1)
end
print("yielded", yielded)

local failed, message = 0, nil
local function may_fail(i)
  if i % 7 == 0 then error("seven divides " .. i) end
  return i, i + 1
end
for i = 1, 1001 do
  local fine, a, b = own.try(may_fail, i)
  if fine then counted = counted + a + b else failed, message = failed + 1, a end
end
print("failed", failed, counted)
print(message)

local run = 0
for i = 1, 300 do
  run = run + own.run(function(n) for k = 1, n do coroutine.yield(k) end end, i % 9)
end
print("run", run)
print(pcall(own.run, function() coroutine.yield(1) error("in a thread") end))

local seen = 0
own.each(3000, function(i) seen = seen + i end)
print("seen", seen)
print(pcall(own.each, 10, function(i) if i == 5 then error("at five") end end))

local lines = 0
for _ = 1, 20 do
  lines = lines + own.lines(function(n)
    for i = 1, n do
      seen = seen + i
    end
  end, 40)
end
print("lines", lines, seen)

local first, places = nil, {}
for i = 1, 500 do
  first = i
  local function inner(given)
    local line, local_value = own.caller()
    places[line] = (places[line] or 0) + local_value
  end
  inner(i)
end
for line, total in pairs(places) do print("called at", line, total, first) end
print(pcall(function() return own.vector(1)[{}] end))
print(pcall(function() own.vector(1)[2] = 1 end))
print(pcall(function() return own.vector(1) + own.vector(1, 2) end))
