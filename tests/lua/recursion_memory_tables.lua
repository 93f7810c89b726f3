-- Recursion with tables that remember results: by integers, texts, pairs of numbers and rows of a grid; the
-- memory is thrown away now and then, and a wrapper remembers for any function.
local function memoize(f)
  local seen, hits = {}, 0
  return function(n)
    local v = seen[n]
    if v == nil then
      v = f(n)
      seen[n] = v
    else
      hits = hits + 1
    end
    return v
  end, function() return hits end
end
local fib, fib_hits
fib, fib_hits = memoize(function(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end)
for n = 0, 90, 15 do print(n, fib(n), fib_hits()) end
print(fib(20.0), fib(7.0), fib_hits())

local table_of = {}
local function distance(a, b, i, j)
  local key = i * 1000 + j
  local v = table_of[key]
  if v then return v end
  if i == 0 then v = j
  elseif j == 0 then v = i
  elseif a:byte(i) == b:byte(j) then v = distance(a, b, i - 1, j - 1)
  else
    v = 1 + math.min(distance(a, b, i - 1, j), distance(a, b, i, j - 1), distance(a, b, i - 1, j - 1))
  end
  table_of[key] = v
  return v
end
local words = { "kitten", "sitting", "saturday", "sunday", "", "recursion", "excursion", "incursions" }
for i, a in ipairs(words) do
  local line = {}
  for j, b in ipairs(words) do
    table_of = {}
    line[j] = distance(a, b, #a, #b)
  end
  print(a, table.concat(line, " "))
end

local ways = setmetatable({}, { __index = function(t, key) return nil end })
local coins = { 1, 2, 5, 10, 20.0, 50 }
local function change(amount, k)
  if amount == 0 then return 1 end
  if amount < 0 or k == 0 then return 0 end
  local key = amount .. "/" .. k
  local v = ways[key]
  if not v then
    v = change(amount - coins[k], k) + change(amount, k - 1)
    ways[key] = v
  end
  return v
end
for amount = 5, 65, 15 do
  print(amount, change(amount, 6), change(amount, 3))
  if amount == 35 then ways = {} end
end

local function longest(n, cache)
  if n == 1 then return 1 end
  local v = cache[n]
  if v then return v end
  v = 1 + longest(n % 2 == 0 and n // 2 or 3 * n + 1, cache)
  if n < 2000 then cache[n] = v end
  return v
end
local cache = {}
local best, at = 0, 0
for n = 1, 400 do
  local v = longest(n, cache)
  if v > best then best, at = v, n end
  if n % 100 == 0 then print(n, best, at, #cache > 0) cache = n == 200 and {} or cache end
end

-- A grid with obstacles; the memory is an array of arrays that the recursion fills from behind.
local function grid(w, h, blocked)
  local memory = {}
  local function paths(x, y)
    if x == w and y == h then return 1 end
    if x > w or y > h or blocked[x * 100 + y] then return 0 end
    local row = memory[x]
    if not row then
      row = {}
      memory[x] = row
    end
    local v = row[y]
    if not v then
      v = paths(x + 1, y) + paths(x, y + 1)
      row[y] = v
    end
    return v
  end
  return paths(1, 1)
end
for n = 2, 12, 2 do
  local blocked = {}
  for i = 2, n - 1, 3 do blocked[i * 100 + i] = true end
  print(n, grid(n, n, blocked), grid(n, 4, {}), grid(n, n, { [102] = true }))
end
