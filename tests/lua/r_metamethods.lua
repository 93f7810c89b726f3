-- Loops in metamethods, which C calls: their returns lead to C, and no code may pass over that.
local V = {}
V.__index = function(t, key)
  for i = 1, #t do
    if t[i] == key then return i end
  end
  return -1
end
V.__add = function(a, b)
  local sum = setmetatable({}, V)
  for i = 1, #a do
    if not b[i] then return sum end
    sum[i] = a[i] + b[i]
  end
  return sum
end
V.__lt = function(a, b)
  for i = 1, 9 do
    if a[i] ~= b[i] then return (a[i] or 0) < (b[i] or 0) end
  end
  return false
end
local function make(n) local v = setmetatable({}, V) for i = 1, n % 4 + 1 do rawset(v, i, i * n) end return v end
local function rank(v, w)
  local a = v.x
  local b = w[3 * #w]
  if v < w then return a + b end
  local u = v + w
  return #u + a - b
end
local total = 0
for n = 1, 120 do total = total + rank(make(n), make(n * 3 % 7)) end
print(total)
