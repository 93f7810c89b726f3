-- Memo tables: plain, with several keys, with string keys, through __index, and weak.
local memo = {}
local function fib(n)
  if n < 2 then return n end
  local v = memo[n]
  if v then return v end
  v = fib(n - 1) + fib(n - 2)
  memo[n] = v
  return v
end
local s = 0
for i = 1, 90 do s = (s + fib(i)) % 1000000007 end
print(s, fib(90))
local calls = 0
local squares = setmetatable({}, { __index = function(t, k) calls = calls + 1; local v = k * k; t[k] = v; return v end })
local q = 0
for round = 1, 4 do for i = 1, 60 do q = q + squares[i] end end
print(q, calls)
local grid = {}
local function ways(r, c)
  if r == 0 or c == 0 then return 1 end
  local key = r .. "," .. c
  local v = grid[key]
  if v == nil then v = ways(r - 1, c) + ways(r, c - 1); grid[key] = v end
  return v
end
print(ways(8, 8), ways(9, 3))
local function binomial(n, k, cache)
  if k == 0 or k == n then return 1 end
  local row = cache[n]
  if not row then row = {}; cache[n] = row end
  if not row[k] then row[k] = binomial(n - 1, k - 1, cache) + binomial(n - 1, k, cache) end
  return row[k]
end
local cache, line = {}, {}
for k = 0, 20 do line[#line + 1] = binomial(20, k, cache) end
print(table.concat(line, " "))
local steps, longest, at = { [1] = 0 }, 0, 1
for i = 1, 120 do
  local n, count, path = i, 0, {}
  while steps[n] == nil do path[#path + 1] = n; n = n % 2 == 0 and n // 2 or 3 * n + 1; count = count + 1 end
  for j = #path, 1, -1 do steps[path[j]] = steps[n] + (#path - j) + 1 end
  if steps[i] > longest then longest, at = steps[i], i end
end
print(longest, at)
local weak = setmetatable({}, { __mode = "v" })
local made = 0
for i = 1, 80 do
  local k = i % 4
  local v = weak[k]
  if not v then v = { k }; made = made + (weak[k] == nil and 1 or 0); weak[k] = v end
  if v[1] ~= k then made = made + 1000 end
end
print(made >= 4, made < 1000)
