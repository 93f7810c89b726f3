-- Overflow inside coroutines: of the Lua stack in a coroutine whose maker is deep itself, of C levels by
-- coroutines that resume one another, with values yielded before and after, and functions that go on.
local deepest = 0
local function wide(n)
  local a, b, c, d, e, f, g, h, i, j, k, l = n, n, n, n, n, n, n, n, n, n, n, n
  local m, o, p, q, r, s, t, u, v, w, x, y = a, b, c, d, e, f, g, h, i, j, k, l
  deepest = n
  return wide(n + 1) + m + y
end
local function first_line(text) return (tostring(text):gsub("\n.*", ""):gsub("%(.*", "")) end
local function sum(n) if n == 0 then return 0 end return n + sum(n - 1) end

local co = coroutine.wrap(function()
  coroutine.yield(sum(50))
  deepest = 0
  local ok, e = pcall(wide, 1)
  coroutine.yield(ok, deepest, first_line(e))
  coroutine.yield(sum(3000))
  return pcall(sum, 10)
end)
print(co())
print(co())
print(co())
print(co())

local function made_deep(n)
  if n == 0 then
    deepest = 0
    local c = coroutine.create(wide)
    local ok, e = coroutine.resume(c, 1)
    return ok, first_line(e), coroutine.status(c)
  end
  local ok, e, status = made_deep(n - 1)
  return ok, e, status
end
for n = 0, 2000, 2000 do print(n, made_deep(n)) print(deepest) end

-- Coroutines that resume a new one each, until C levels are used up; each yields on the way back.
local function level(n)
  if n > deepest then deepest = n end
  local inner = coroutine.create(level)
  local ok, v = coroutine.resume(inner, n + 1)
  if not ok then
    coroutine.yield("failed in " .. n, v)
    return n
  end
  coroutine.yield("inner", v)
  return n
end
for round = 1, 3 do
  deepest = 0
  local c = coroutine.create(level)
  local steps, ok, a, b = 0, coroutine.resume(c, 1)
  while coroutine.status(c) == "suspended" do
    steps = steps + 1
    if steps == 1 then print(round, a, first_line(b)) end
    ok, a, b = coroutine.resume(c)
  end
  print(round, ok, a, steps, deepest)
end

-- Generators that pull from generators, as many as there may be, and one more.
local function source(n)
  local i = 0
  return coroutine.wrap(function()
    while true do
      i = i + 1
      coroutine.yield(i)
    end
  end)
end
local function through(inner)
  return coroutine.wrap(function()
    while true do coroutine.yield(inner() + 1) end
  end)
end
local g, failed = source(), nil
local levels = 0
for i = 1, 250 do
  local next_g = through(g)
  local ok, v = pcall(next_g)
  if not ok then
    failed = v:match("[^:]*$")
    break
  end
  levels = i
  g = next_g
  if i % 40 == 0 then print(i, v, g()) end
end
print(levels, failed)

-- The same through protected calls and sorting inside of them; the limit is that of all levels together.
local function mixed(n)
  if n > deepest then deepest = n end
  if n % 3 == 0 then
    local ok, v = pcall(mixed, n + 1)
    if not ok then error(v, 0) end
    return v + 1
  elseif n % 3 == 1 then
    return coroutine.wrap(mixed)(n + 1) + 1
  end
  local r
  table.sort({ 1, 2 }, function(a, b) r = r or mixed(n + 1) return a < b end)
  return r + 1
end
for round = 1, 3 do
  deepest = 0
  local ok, e = pcall(mixed, round)
  print(round, ok, deepest, e:match("[^:]*$"), sum(round * 100))
end
