-- Types that change at some depth of a recursion: integers that become floats, texts, nil, booleans and
-- tables, in arguments, in results, and in variables that live across the call.
local function sum(n, at, other)
  if n == 0 then return 0 end
  local x = n == at and other or n
  local rest = sum(n - 1, at, other)
  return rest + x
end
for _, other in ipairs { 0.5, "10", -0.0, math.huge, 1 << 62, "0x10", 1e15 } do
  local line = {}
  for at = 0, 20, 4 do line[#line + 1] = tostring(sum(20, at, other)) end
  print(other, table.concat(line, " "))
end
print(pcall(sum, 5, 2, {}))
print(pcall(sum, 5, 2, "x"))

-- The argument itself changes on the way down.
local function halve(n, depth)
  if n == 0 or depth == 0 then return depth, math.type(n) end
  if depth % 2 == 0 then return halve(n // 2, depth - 1) end
  local d, kind = halve(n / 2, depth - 1)
  return d + 1, kind
end
for n = 1, 40, 6 do print(n, halve(n, 12), halve(n, 9)) end

-- The result is an integer, float, nil, false, text or function by turns; the caller looks at it.
local kinds = {
  function(n) return n end, function(n) return n / 2 end, function() end, function() return false end,
  function(n) return "t" .. n end, function(n) return { n } end, function(n) return print, n end,
}
local function result(n)
  if n == 0 then return 0 end
  local below, extra = result(n - 1)
  local here = kinds[n % #kinds + 1](n)
  local t = type(below)
  if t == "number" then return here, below end
  if t == "string" then return #below + n end
  if t == "table" then return below[1] * 2, here end
  if below == false then return n * 0.25 end
  if below == nil then return extra and "nil" .. n or n end
  return here, t
end
local line = {}
for n = 0, 60 do
  local r, extra = result(n)
  line[#line + 1] = type(r) == "number" and tostring(r) or type(r) .. (extra == nil and "" or "+")
end
print(table.concat(line, " "))

-- Integers that leave the range of integers, at a depth that depends on where they start.
local function factorial(n) if n <= 1 then return 1 end return n * factorial(n - 1) end
local function factorial_float(n) if n <= 1 then return 1.0 end return n * factorial_float(n - 1) end
local function power(x, n)
  if n == 0 then return 1 end
  if n < 0 then return 1 / power(x, -n) end
  local half = power(x, n // 2)
  if n % 2 == 0 then return half * half end
  return half * half * x
end
for n = 1, 30, 3 do
  print(n, factorial(n), factorial_float(n), power(3, n * 2), power(1.5, n), power(2, -n))
end

-- A variable of the level above changes its type by what the level below returns.
local function climb(n)
  local x = 0
  for i = 1, n % 4 + 1 do
    if n > 0 then
      local r = climb(n - 1)
      if r > 40 then x = x + r / 4 elseif r ~= r then x = 1 else x = x + r + i end
    else
      x = x + i
    end
  end
  return x
end
for n = 0, 9 do io.write(climb(n), " ") end
print()
-- Comparisons of what is not the same type on all levels.
local function largest(list, i)
  local x = list[i]
  if i == #list then return x end
  local y = largest(list, i + 1)
  if x < y then return y end
  return x
end
local lists = { { 3, 1, 2 }, { 1.5, 7, 7.0, 2 }, { "a", "c", "b" }, { -0.0, 0 }, { 1, 2, "3", 4 }, { {}, 1 } }
for round = 1, 12 do
  for k, l in ipairs(lists) do
    local ok, v = pcall(largest, l, 1)
    if round == 12 then print(k, ok, v) end
  end
end
