-- Callees that return different numbers of results, by depth: to callers that want none, one, three or all;
-- results that become arguments, parts of tables, or results again.
local function count(...) return select("#", ...) end
local function vary(n)
  if n == 0 then return end
  local k = n % 5
  if k == 0 then return vary(n - 1) end
  if k == 1 then return n, vary(n - 1) end
  if k == 2 then return (vary(n - 1)) end
  if k == 3 then return n, nil, vary(n - 2) end
  vary(n - 1)
  return vary(n - 1), n
end
for n = 0, 24 do
  local a, b, c = vary(n)
  print(n, count(vary(n)), a, b, c, (vary(n)))
end

-- All results go on as arguments of the next level.
local function spread(n, ...)
  if n == 0 then return ... end
  return spread(n - 1, n, ...)
end
local function gather(n, ...)
  if n == 0 then return count(...), ... end
  local a, b = gather(n - 1, ..., n)
  return a, b
end
local sum = 0
for i = 1, 60 do
  sum = sum + count(spread(i % 15, i)) + count(gather(i % 7, i, i))
  local t = { spread(i % 9) }
  sum = sum + #t + (t[1] or 0)
  t = { spread(i % 4, nil, 1) , spread(3) }
  sum = sum + #t
end
print(sum, spread(5, "a", "b"))
print(gather(4, 1, 2))

-- One function, three ways to leave; the caller sees nil where nothing came.
local function pick(list, i, want)
  local x = list[i]
  if x == nil then return end
  if x == want then return i, x end
  if i >= 12 then return false end
  return pick(list, i + 1, want)
end
local list = { 5, 3.0, "x", true, 7, 9, 11, 2, 4, 6, 8, 10, 12, 14 }
local found = {}
for round = 1, 20 do
  for _, want in ipairs { 5, 3, "x", 10, 14, 99, true } do
    local i, x = pick(list, 1, want)
    found[#found + 1] = tostring(i) .. tostring(x)
  end
  if round % 10 == 0 then print(table.concat(found, " ", #found - 6)) end
  if round == 10 then list[13] = nil list[9] = nil end
end

-- min, max, sum and number of elements in one recursion; and the same by halves.
local function stats(t, i)
  local x = t[i]
  if i == #t then return x, x, x, 1 end
  local low, high, s, n = stats(t, i + 1)
  return x < low and x or low, x > high and x or high, s + x, n + 1
end
local function halves(t, i, j)
  if i == j then return t[i], t[i], t[i], 1 end
  local m = (i + j) // 2
  local l1, h1, s1, n1 = halves(t, i, m)
  local l2, h2, s2, n2 = halves(t, m + 1, j)
  return math.min(l1, l2), math.max(h1, h2), s1 + s2, n1 + n2
end
local t = {}
for i = 1, 50 do
  t[i] = i * 7919 % 101 + (i % 10 == 0 and 0.25 or 0)
  if i % 10 == 0 then
    print(stats(t, 1))
    print(halves(t, 1, #t))
  end
end
-- Dropped, in conditions and behind operators.
local hits = 0
local function effect(n)
  hits = hits + 1
  if n > 0 then
    effect(n - 1)
    if effect(n - 2) then hits = hits + 10 end
    return not effect(n - 3)
  end
end
effect(8)
print(hits, effect(3), effect(0), count(effect(0)))
