-- The stack of Lua functions is full: by frames of several sizes, reached by a call in front of a sum, behind
-- one, and as an argument. Message and depth are the same each time, and small depths work afterwards.
local deepest = 0

local function before(n)
  local a, b, c, d, e, f, g, h, i, j = n, n, n, n, n, n, n, n, n, n
  deepest = n
  return 1 + before(n + 1)
end

local function wide(n)
  local a, b, c, d, e, f, g, h = n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7
  local i, j, k, l, m, o, p, q = a, b, c, d, e, f, g, h
  deepest = n
  local r = wide(n + 1)
  return r + i + j + k + a - l * m - o - p - q
end

local function argument(n)
  local a, b, c, d, e, f, g, h = n, n, n, n, n, n, n, n
  deepest = n
  return math.max(n, a, b, c, d, argument(n + 1), e, f, g, h)
end

local function bounded(n, limit)
  deepest = n
  if n >= limit then return 0 end
  return 1 + bounded(n + 1, limit)
end

local function first_line(text) return (tostring(text):gsub("\n.*", ""):gsub("%(.*", "")) end

local total = 0
for i = 1, 200 do total = total + bounded(1, i % 23 + 1) end
print("warm", total)
for name, f in ipairs { wide, argument } do
  deepest = 0
  local ok, e = pcall(f, 1)
  print(name, ok, deepest, first_line(e))
  print(bounded(1, 500), bounded(1, 7), deepest)
end
print(pcall(bounded, 1, 9000), deepest)
deepest = 0
local ok, e = pcall(before, 1)
print(ok, deepest, first_line(e))
-- The same limit from some levels below, and from inside a coroutine.
local function below(k)
  if k == 0 then return pcall(wide, 1) end
  return below(k - 1)
end
local function held(k)
  if k == 0 then return select(2, pcall(argument, 1)) end
  local text = held(k - 1)
  return text
end
deepest = 0
ok, e = below(70)
print(ok, deepest, first_line(e))
deepest = 0
print(first_line(held(70)), deepest)
local co = coroutine.create(function(k)
  for i = 1, k do
    deepest = 0
    local ok, e = pcall(wide, 1)
    coroutine.yield(i, ok, deepest, first_line(e))
  end
  return wide(1)
end)
print(coroutine.resume(co, 1))
print(coroutine.resume(co))
print(coroutine.status(co), deepest)
