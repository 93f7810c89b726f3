-- One small function called from many places: from loops, other functions, methods, metamethods and library
-- functions, with results that are dropped, used and handed on, and with arguments of changing types.
local function clamp(x, low, high)
  if x < low then return low end
  if x > high then return high end
  return x
end
local function span(x, y) return clamp(y - x, 0, 10), clamp(x - y, 0, 10) end
local function both(x) return clamp(x, -5, 5) + clamp(x * 2, -5, 5.5) end
local object = { scale = 2 }
function object:bounded(x) return clamp(x, 0, 100) * self.scale end
local mt = { __add = function(a, b) return clamp(a.n + b, 0, 20) end }
mt.__index = function(t, k) return clamp(k, 1, 9) end
local meta = setmetatable({ n = 3 }, mt)
local sum = 0
for i = 1, 300 do
  sum = sum + clamp(i, 10, 20)
  clamp(i, 1, 2)
  local a, b = span(i % 17, i % 5)
  sum = sum + a - b + both(i % 13 - 6) + object:bounded(i % 150)
  sum = sum + (meta + i % 30) + meta[i % 14 + 20]
  if clamp(i % 40, 0, 30) == 30 then sum = sum + 0.5 end
  if i % 100 == 0 then print(i, sum) end
end
local list = { 5, 30, 1, 22, 14.5, 9 }
table.sort(list, function(a, b) return clamp(a, 4, 20) < clamp(b, 4, 20) end)
print(list[1], list[#list], clamp("b", "a", "c"), clamp("z", "a", "c"))
print((("7 42 3"):gsub("%d+", function(d) return clamp(tonumber(d), 5, 40) end)))
print(pcall(clamp, 1, nil, 2))
print(pcall(span, "x", 1))
print(pcall(both, {}))

-- The same function first with integers, then floats, texts with order, tables with __lt.
local Time = { __lt = function(a, b) return a.t < b.t end, __tostring = function(a) return "T" .. a.t end }
local function time(t) return setmetatable({ t = t }, Time) end
local kinds = {
  function(i) return clamp(i, 20, 40) end,
  function(i) return clamp(i + 0.5, 20, 40) end,
  function(i) return clamp(i / 3, 20.25, 40) end,
  function(i) return clamp("k" .. i, "k20", "k40") end,
  function(i) return clamp(time(i), time(20), time(40)) end,
}
for k, f in ipairs(kinds) do
  local last = {}
  for i = 1, 60 do
    local r = f(i)
    if i % 15 == 0 then last[#last + 1] = tostring(r) end
  end
  print(k, table.concat(last, " "))
end
for i = 1, 60 do
  local r = kinds[i % 5 + 1](i)
  if i % 6 == 0 then io.write(tostring(r), " ") end
end
print()

-- Calls of functions that are given: one call site, many callees, some of them the caller's own.
local function apply(f, x, y) return f(x, y) end
local function add(x, y) return x + y end
local function first(x) return x end
local function none() end
local function twice(x, y) return apply(add, apply(add, x, y), apply(first, y, x)) end
local callees = { add, first, none, twice, math.max, function(x, y) return x * y, x end, span }
local total = 0
for i = 1, 350 do
  local f = callees[i % #callees + 1]
  local a, b = apply(f, i % 19, i % 7)
  total = total + (a or 0.25) + (b or 1)
  if i == 200 then callees[2], callees[4] = callees[4], callees[2] end
end
print(total, apply(none), select("#", apply(none)), select("#", apply(first)))
-- Deep chains of small functions.
local function f1(x) return x + 1 end
local function f2(x) return f1(x) * 2 end
local function f3(x, y) return f2(x) - f2(y or 1) end
local function f4(x) local a = f3(x) local b = f3(x, a) return a + b, a end
local function f5(x) local a, b = f4(x) return a * 3 % 1000 + f1(b) end
local function f6(x) if x % 2 == 0 then return f5(x) end return f5(f5(x)) end
local s = 0
for i = 1, 500 do s = s + f6(i) + f6(i * 0.5) end
print(s)
