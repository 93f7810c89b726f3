-- Loops inside functions inside loops: functions that are short loops, long loops, or none, called by loops
-- of other functions; the same function reached with few and many iterations, and left in several ways.
local function sum(n) local s = 0 for i = 1, n do s = s + i end return s end
local function count(t, x) local c = 0 for _, v in ipairs(t) do if v == x then c = c + 1 end end return c end
local function find(t, x)
  for i = 1, #t do if t[i] == x then return i end end
  return nil, #t
end
local function digits(n)
  local s = 0
  while n > 0 do
    s = s + n % 10
    n = n // 10
  end
  return s
end
local total = 0
for i = 1, 200 do
  total = total + sum(i % 4) + digits(i * 37)
  if i % 20 == 0 then total = total + sum(i * 3) end
  if i % 50 == 0 then print(i, total) end
end
local t = {}
for i = 1, 60 do t[i] = i * i % 23 end
for x = 0, 22, 2 do
  local at, n = find(t, x)
  print(x, count(t, x), at, n)
end

-- A table of rows: a loop over rows calls a loop over cells, which calls a loop over neighbours.
local function neighbours(g, x, y)
  local n = 0
  for dy = -1, 1 do
    local row = g[y + dy]
    if row then
      for dx = -1, 1 do
        if (dx ~= 0 or dy ~= 0) and row[x + dx] == 1 then n = n + 1 end
      end
    end
  end
  return n
end
local function step_row(g, y)
  local out = {}
  for x = 1, #g[y] do
    local n = neighbours(g, x, y)
    out[x] = (n == 3 or n == 2 and g[y][x] == 1) and 1 or 0
  end
  return out
end
local function step(g)
  local out = {}
  for y = 1, #g do out[y] = step_row(g, y) end
  return out
end
local function population(g)
  local n = 0
  for _, row in ipairs(g) do for _, c in ipairs(row) do n = n + c end end
  return n
end
local g = {}
for y = 1, 14 do
  g[y] = {}
  for x = 1, 14 do g[y][x] = (x * 3 + y * 5) % 7 < 3 and 1 or 0 end
end
local line = {}
for round = 1, 10 do
  g = step(g)
  line[round] = population(g)
end
print(table.concat(line, " "))

-- Functions whose loops call one another, down to a limit.
local outer
local function inner(n, k)
  local s = 0
  for i = 1, k do
    s = s + i
    if i % 3 == 0 and n > 0 then s = s + outer(n - 1, k - 1) end
  end
  return s
end
function outer(n, k)
  local s, i = 0, 0
  repeat
    i = i + 1
    s = s + inner(n - 1, k)
    if s > 5000 then return s / 2 end
  until i * i > k
  return s
end
for n = 0, 4 do for k = 1, 9, 4 do print(n, k, outer(n, k), inner(n, k)) end end

-- A loop's limit, step and start come from functions with loops; the loop's variable goes to others.
local function power(x, n) local r = 1 for _ = 1, n do r = r * x end return r end
local function area(n)
  local s = 0
  for i = power(2, n % 3), sum(n), power(1, n) + n % 2 do
    for j = i, i + digits(i) % 4 do s = s + power(j % 5, 2) end
  end
  return s
end
for n = 1, 22, 3 do io.write(area(n), " ") end
print()
-- The callee's loop throws, yields, or is left by a return in the middle of the caller's loop.
local function check(v, limit)
  for i = 1, #v do
    if v[i] > limit then error("over " .. i, 0) end
    if v[i] == limit then coroutine.yield(i) end
  end
  return #v
end
local function checker(lists, limit)
  local n = 0
  for k = 1, #lists do
    local ok, r = pcall(check, lists[k], limit)
    n = n + (ok and r or -#r)
  end
  return n
end
local lists = {}
for k = 1, 12 do
  lists[k] = {}
  for i = 1, k + 3 do lists[k][i] = i * k % 17 end
end
for limit = 4, 16, 3 do
  local co = coroutine.create(checker)
  local yields, ok, r = {}, coroutine.resume(co, lists, limit)
  while coroutine.status(co) == "suspended" do
    yields[#yields + 1] = r
    ok, r = coroutine.resume(co)
  end
  print(limit, ok, r, table.concat(yields, " "))
end
