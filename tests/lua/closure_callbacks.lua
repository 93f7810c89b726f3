-- Callbacks that change variables of the function that hands them out: each, map, filter, fold, any, sorting
-- and replacing by functions; with several variables, types that change, and callbacks inside callbacks.
local function each(list, f) for i = 1, #list do f(list[i], i) end end
local function map(list, f)
  local out = {}
  for i, x in ipairs(list) do out[i] = f(x, i) end
  return out
end
local function filter(list, test)
  local out = {}
  for _, x in ipairs(list) do if test(x) then out[#out + 1] = x end end
  return out
end
local function fold(list, f, acc) for _, x in ipairs(list) do acc = f(acc, x) end return acc end
local function any(list, test)
  for _, x in ipairs(list) do if test(x) then return true end end
  return false
end
local function times(n, f) for i = 1, n do f(i) end end

local list = {}
times(80, function(i) list[i] = (i * 7) % 31 end)
local sum, count, most = 0, 0, nil
each(list, function(x)
  sum = sum + x
  count = count + 1
  if not most or x > most then most = x end
end)
print(sum, count, most)
for round = 1, 20 do
  sum = 0
  local evens, odds = 0, 0.0
  each(list, function(x) if x % 2 == 0 then evens = evens + x else odds = odds + x end end)
  each(list, function(x, i) sum = sum + x * i if i == round then sum = -sum end end)
  if round % 5 == 0 then print(round, sum, evens, odds) end
end
local squares = map(list, function(x) return x * x end)
local small = filter(squares, function(x) return x < sum % 500 + 200 end)
print(#squares, #small, fold(small, function(a, b) return a + b end, 0), fold(list, math.max, -1))
local calls = 0
print(any(list, function(x) calls = calls + 1 return x == 30 end), calls)
print(any(list, function(x) calls = calls + 1 return x == 31 end), calls)

-- Callbacks inside callbacks, with variables of all levels.
local function matrix(n)
  local total, trace, rows = 0, 0, {}
  times(n, function(i)
    local row = {}
    rows[i] = row
    times(n, function(j)
      local v = i * j
      row[j] = v
      total = total + v
      if i == j then trace = trace + v end
      if j == n then times(i, function(k) total = total - k / 2 end) end
    end)
  end)
  return total, trace, rows[n][n]
end
for n = 1, 13, 3 do print(n, matrix(n)) end

-- A callback that replaces what the others see; one that stops by an error; one that yields.
local state = 0
local handler
local function first(x)
  state = state + x
  if state > 200 then handler = function(y) state = state - y end end
end
handler = first
for i = 1, 200 do
  each({ 1, 2, 3 }, function(x) handler(x * (i % 4)) end)
  if state < 50 then handler = first end
end
print(state, handler == first)
local stopped = 0
for i = 1, 50 do
  local seen = 0
  local ok, e = pcall(each, list, function(x)
    seen = seen + x
    if seen > i * 20 then error(seen, 0) end
  end)
  stopped = stopped + (ok and 0.5 or e)
end
print(stopped)
local gen = coroutine.wrap(function()
  local n = 0
  each(list, function(x)
    n = n + 1
    if x % 3 == 0 then coroutine.yield(x, n) end
  end)
  return "end", n
end)
local parts = {}
repeat
  local x, n = gen()
  parts[#parts + 1] = x .. "@" .. n
until x == "end"
print(#parts, table.concat(parts, " ", 1, 6), parts[#parts])

-- Library functions that call back.
local order, compared = {}, 0
for i = 1, 50 do order[i] = i * 29 % 53 + (i % 5 == 0 and 0.5 or 0) end
table.sort(order, function(a, b) compared = compared + 1 return a > b end)
print(order[1], order[25], order[50], compared > 49)
local letters, digits = 0, 0
for i = 1, 12 do
  local s = ("a1 b22 "):rep(i):gsub("%w", function(c)
    if tonumber(c) then digits = digits + c else letters = letters + 1 end
    return c == "b" and i or nil
  end)
  if i % 6 == 0 then print(#s, letters, digits) end
end
