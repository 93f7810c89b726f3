-- Recursion that C functions call: comparators of table.sort, callbacks of string.gsub, iterators, and the
-- other way round, C functions in each level of a recursion.
local calls = 0
local function digits(n) calls = calls + 1 if n < 10 then return n end return n % 10 + digits(n // 10) end
local function less(a, b) local x, y = digits(a), digits(b) if x == y then return a < b end return x < y end
local t = {}
for i = 1, 40 do t[i] = i * i * 37 % 9973 end
table.sort(t, less)
print(table.concat(t, " "), calls)
t[7] = 1234.5
print(pcall(table.sort, t, less))
print(calls)
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
print((("fib 5, fib 12, fib 3, fib 15"):gsub("%d+", function(s) return fib(tonumber(s)) end)))
print((("a1b22c333"):gsub("(%a)(%d+)", function(a, d) return a:rep(fib(#d + 2)) .. digits(tonumber(d)) end)))
local function nested(s, n)
  if n == 0 then return s end
  return (s:gsub("x", function(c) return nested(c .. "y", n - 1) .. "x" end))
end
for n = 0, 6 do io.write(nested("xx", n), " ") end
print()
local function upto(n) return function(_, i) if i < n then return i + 1, fib(i) end end, nil, 0 end
local s = 0
for i, f in upto(16) do s = s + f * i end
print(s)
local function in_order(t)
  if #t <= 1 then return #t end
  local half = {}
  for i = 1, #t // 2 do half[i] = t[i] end
  table.sort(half, function(a, b) return in_order({}) == 0 and less(a, b) end)
  return in_order(half) + half[1]
end
print(in_order({ 19, 7, 30, 4, 100, 22, 1, 5 }))

-- C functions at each level.
local function mixed(n, x)
  if n == 0 then return x end
  local k = n % 8
  if k == 0 then x = x + math.floor(x / 2) elseif k == 1 then x = math.max(x, n)
  elseif k == 2 then x = x + #tostring(n)
  elseif k == 3 then x = x + select("#", n, x, nil) elseif k == 4 then x = x + (math.tointeger(n) or 0)
  elseif k == 5 then x = x + ("abcdef"):byte(n % 6 + 1)
  elseif k == 6 then x = x + (type(n) == "number" and 1 or 2)
  else x = math.abs(x) % 1000 end
  local r = mixed(n - 1, x)
  return math.type(r) == "integer" and r + 1 or r + 0.5
end
for i = 1, 30 do
  io.write(mixed(i, i), " ", mixed(i, i + 0.5), " ", mixed(i + 0.0, -i), i % 6 == 0 and "\n" or " ")
end
local function spells(n) if n == 0 then io.write("\n") return end io.write(n, ",") print(n) spells(n - 1) end
for i = 1, 4 do spells(i) end
local function raw(n, t)
  if n == 0 then return rawlen(t) end
  rawset(t, n, n)
  local r = raw(n - 1, t)
  return r + (rawget(t, n) or 0) + (rawequal(t, t) and 1 or 0) + #t
end
for i = 1, 12 do io.write(raw(i, {}), " ") end
print()
