-- Varargs passed on: wrappers, logging, currying, nil in the middle, select from the end, pack and unpack, tail calls.
local function forward(f, ...) return f(...) end
local function count(...) return select("#", ...) end
local function sum(...)
  local s = 0
  for i = 1, select("#", ...) do s = s + (select(i, ...) or 0) end
  return s
end
local function last(...) return (select(-1, ...)) end
local function rest(_, ...) return ... end
local function reversed(first, ...)
  if first == nil and select("#", ...) == 0 then return end
  local t = table.pack(reversed(...))
  t[t.n + 1] = first
  return table.unpack(t, 1, t.n + 1)
end
local total, counted = 0, 0
for i = 1, 100 do
  total = total + forward(sum, i, nil, i * 2, nil) + forward(forward, sum, i) + sum(rest(100, i, i)) + last(i, i + 1, i + 2)
  counted = counted + count() + count(nil) + count(nil, i, nil) + forward(count, rest(1, nil, nil))
end
print(total, counted)
print(reversed(1, 2, 3, 4, 5))
local calls = {}
local function traced(name, f)
  return function(...)
    local arguments = table.pack(...)
    for i = 1, arguments.n do arguments[i] = tostring(arguments[i]) end
    local results = table.pack(pcall(f, ...))
    calls[#calls + 1] = name .. "(" .. table.concat(arguments, ",") .. ")=" .. results.n - 1
    if not results[1] then return nil, (tostring(results[2]):gsub("^.-:%d+: ", "")) end
    return table.unpack(results, 2, results.n)
  end
end
local divide = traced("divide", function(a, b) return a // b, a % b end)
local nothing = traced("nothing", function() end)
local q, m, failed = 0, 0, 0
for i = -40, 40 do
  local a, b = divide(100, i)
  if a then q, m = q + a, m + b else failed = failed + 1 end
  nothing(i, nil, nil)
end
print(q, m, failed, #calls, calls[1], calls[82], calls[162])
print(divide(1, 0))
local function curry(f, n, ...)
  if n <= 0 then return f(...) end
  local held = table.pack(...)
  return function(...)
    local all = table.pack(table.unpack(held, 1, held.n))
    for i = 1, select("#", ...) do all[all.n + i] = (select(i, ...)) end
    all.n = all.n + select("#", ...)
    return curry(f, n - select("#", ...), table.unpack(all, 1, all.n))
  end
end
local volume, v = curry(function(a, b, c) return a * 100 + b * 10 + c end, 3), 0
for i = 1, 60 do v = v + volume(i)(i + 1)(i + 2) + volume(i, 1)(2) - volume(1, 2, 3) end
print(v)
local function max_index(...)
  local best, at = -math.huge, 0
  for i, x in ipairs { ... } do if x > best then best, at = x, i end end
  return at, best
end
local s = 0
for i = 1, 90 do
  local at, best = max_index(i % 7, i % 5, i % 3, i % 11)
  s = s * 3 % 10007 + at * best
end
print(s)
local function compose(f, ...)
  if not f then return function(...) return ... end end
  local g = compose(...)
  return function(...) return f(g(...)) end
end
local inc, double = function(x, ...) return x + 1, ... end, function(x, ...) return x * 2, ... end
local f, c = compose(inc, double, inc), 0
for i = 1, 70 do
  local a, b, d = f(i, "x", nil)
  c = c + a + #b + (d and 1 or 0)
end
print(c, f(1, 2, 3))
local function tail(n, ...) if n == 0 then return ... end return tail(n - 1, n, ...) end
local lengths = 0
for i = 0, 60 do lengths = lengths + select("#", tail(i % 12)) end
print(lengths, tail(9))
print(pcall(select, 0), select("#", table.unpack({}, 1, 70)), (pcall(table.unpack, {}, 1, 1e8)))
local function defaults(...)
  local a, b, c = ...
  a, b = a or 1, b == nil and "b" or b
  return a, b, c, ...
end
for i = 1, 3 do print(defaults(table.unpack({ i, false, "c", "d" }, 1, i))) end
