-- Recursion inside coroutines that yields at each depth, on the way down and up; several such coroutines in
-- turn, each at another depth; values that are passed in change the recursion.
local function walk(n, sum)
  local x = coroutine.yield("down", n)
  if x == "stop" then return "stopped", n end
  if n == 0 then return sum, 0 end
  local r, d = walk(n - 1, sum + (x or 0))
  local y = coroutine.yield("up", n)
  if type(r) == "string" then return r .. n, d end
  return r + (y or 0.5), d + 1
end
for n = 0, 12, 3 do
  for _, given in ipairs { false, 1, 0.25 } do
    local co = coroutine.create(walk)
    local ok, a, b = coroutine.resume(co, n, 0)
    local steps = 0
    while coroutine.status(co) ~= "dead" do
      steps = steps + 1
      ok, a, b = coroutine.resume(co, given or nil)
    end
    print(n, given, ok, a, b, steps)
  end
end
for at = 1, 6 do
  local co = coroutine.wrap(walk)
  co(8, 0)
  local a, b
  for i = 1, at do a, b = co(1) end
  local out = {}
  a, b = co("stop")
  while a == "up" do
    out[#out + 1] = b
    a, b = co(1)
  end
  print(at, a, b, table.concat(out, " "))
end

-- Many at once, each resumed in turn, until all are at their end.
local pool, ended, total = {}, 0, 0
for i = 1, 20 do
  pool[i] = coroutine.create(walk)
  coroutine.resume(pool[i], i, i)
end
local round = 0
while ended < #pool do
  round = round + 1
  for i, co in ipairs(pool) do
    if coroutine.status(co) == "suspended" and (round + i) % 3 ~= 0 then
      local ok, a, b = coroutine.resume(co, i)
      if coroutine.status(co) == "dead" then
        ended = ended + 1
        total = total * 7 % 1000003 + a + b
      end
    end
  end
  if round % 12 == 0 then print(round, ended, total) end
end
print(round, ended, total)

-- A deep stack inside a coroutine, which is left there while others run, and then goes on.
local function dive(n)
  if n == 0 then return coroutine.yield("deep") end
  return 1 + dive(n - 1)
end
local divers = {}
for i = 1, 5 do
  divers[i] = coroutine.wrap(dive)
  print(i, divers[i](i * 600))
end
collectgarbage()
for i = 5, 1, -1 do print(i, divers[i](i % 2 == 0 and 0.5 or 0)) end

-- Closed in the middle: the variables to be closed of all levels are closed, innermost first.
local log = {}
local function levels(n)
  local g <close> = setmetatable({}, { __close = function() log[#log + 1] = n end })
  if n == 0 then coroutine.yield("bottom") end
  levels(n - 1)
end
for n = 0, 9, 3 do
  log = {}
  local co = coroutine.create(levels)
  local ok, v = coroutine.resume(co, n)
  print(n, ok, v, coroutine.close(co), coroutine.status(co), table.concat(log, " "))
end
-- Recursion that makes a coroutine at each depth, which recurses in turn before it yields.
local function down(k) if k == 0 then return coroutine.yield(1) end return down(k - 1) + 1 end
local function nest(n)
  if n == 0 then return 0 end
  local co = coroutine.wrap(down)
  local a = co(n * 3)
  local rest = nest(n - 1)
  return rest + co(a + n)
end
for n = 0, 20, 4 do print(n, nest(n)) end
