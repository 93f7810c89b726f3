-- Depth that oscillates over a shrinking of the stack: deep recursion, a collection that gives the stack
-- back, shallow recursion in a hot loop, and deep again; also in a coroutine and with captured variables.
local function sum(n) if n == 0 then return 0 end return n + sum(n - 1) end
local function wide(n)
  local a, b, c, d, e = n, n + 1, n * 0.5, n - 1, n
  if n == 0 then return 0 end
  local r = wide(n - 1)
  return r + a + b + c - d - e
end
local function shallow(rounds, f)
  local s = 0
  for i = 1, rounds do s = s + f(i % 6) end
  return s
end
local depths = { 10, 3000, 20, 8000, 5, 12000, 100, 15000, 1 }
for _, n in ipairs(depths) do
  print(n, sum(n), wide(n), shallow(60, sum), shallow(40, wide))
  collectgarbage()
  print(n, shallow(60, wide), shallow(40, sum))
end

-- The collection is made at the deepest level, half way down, and half way up.
local function collecting(n, at, down)
  if n == at and down then collectgarbage() end
  if n == 0 then
    if at == 0 then collectgarbage() end
    return 0.5
  end
  local x = n
  local r = collecting(n - 1, at, down)
  if n == at and not down then collectgarbage() end
  return r + x
end
for _, n in ipairs { 5, 2000, 60, 6000 } do
  print(n, collecting(n, 0), collecting(n, n // 2, true), collecting(n, n // 2, false), collecting(n, n))
end

-- Variables of a shallow frame are captured and changed while the stack moves above them.
local function captured(depth)
  local x, log = 0, {}
  local function up(n)
    x = x + 1
    if n > 0 then return (up(n - 1)) + x end
    collectgarbage("step")
    return x
  end
  for i = 1, 4 do
    local y = i
    local function both() y = y + x return y end
    log[#log + 1] = up(i % 2 == 0 and depth or 3)
    log[#log + 1] = both() + y
    x = x // 2
  end
  return table.concat(log, " ")
end
for _, depth in ipairs { 10, 2500, 10, 4000 } do
  print(captured(depth))
  collectgarbage()
end

-- In a coroutine, which has a stack of its own; the main one stays small.
local co = coroutine.wrap(function()
  for _, n in ipairs(depths) do
    coroutine.yield(n, sum(n), wide(n // 2))
    collectgarbage()
    coroutine.yield(n, shallow(30, sum), shallow(30, wide))
  end
  return "end"
end)
repeat
  local n, a, b = co()
  print(n, a, b, sum(40))
until n == "end"
