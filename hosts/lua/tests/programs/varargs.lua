-- Variable numbers of arguments and results, open calls, select, table.pack.
local function count(...) return select("#", ...) end
local function pass(...) return ... end
local function both(a, ...) local b, c = ...; return c, b, a, ... end
local function sum(...)
  local total = 0
  for i = 1, select("#", ...) do total = total + (select(i, ...) or 0) end
  return total
end
local total = 0
for i = 1, 40 do
  total = total + count(pass(i, nil, i)) + count(both(1, 2, 3, 4)) + sum(pass(i, i + 1), pass(both(i, 5, 6)))
  total = total + #{ pass(1, 2, 3), pass(4, 5) } + #{ pass(), pass(7, 8, 9) } + count(table.unpack({ 1, 2, 3 }, 1, i % 5))
  local a, b, c = pass(i)
  if b ~= nil or c ~= nil then print("wrong") end
  local t = table.pack(both(a, i))
  total = total + t.n
end
print(total)
local function tail(n, ...)
  if n == 0 then return ... end
  return tail(n - 1, n, ...)
end
print(tail(12))
print((tail(5)))
local function many(n)
  local t = {}
  for i = 1, n do t[i] = i end
  return table.unpack(t)
end
for i = 1, 60, 9 do print(sum(many(i)), count(many(i), many(i)), (many(i))) end
print(string.format("%d %s %d", pass(1, "two", 3)), math.max(many(30)))
local function keep(...)
  local first <const> = ...
  local list = { n = select("#", ...), ... }
  return function() return first, list.n, table.unpack(list, 1, list.n) end
end
for i = 1, 8 do print(keep(i, nil, i * 2, nil)()) end
