-- Iterators that recurse: stateless ones over trees, closures that hold an inner iterator, generic loops at
-- each depth, with the iterator's function changing from level to level.
local function leaves(t)
  local i, inner = 0, nil
  return function()
    while true do
      if inner then
        local x = inner()
        if x ~= nil then return x end
        inner = nil
      end
      i = i + 1
      local x = t[i]
      if type(x) ~= "table" then return x end
      inner = leaves(x)
    end
  end
end
local function nested(n, k)
  local t = {}
  for i = 1, n % 4 + 1 do
    if k > 0 and i % 2 == n % 2 then
      t[i] = nested(n + i, k - 1)
    else
      t[i] = n * 10 + i * (i == 3 and 0.5 or 1)
    end
  end
  return t
end
for n = 1, 8 do
  local list = {}
  for x in leaves(nested(n, n % 5 + 1)) do list[#list + 1] = x end
  print(n, #list, table.concat(list, " "):sub(1, 90))
end

local function flatten(t, out)
  for _, x in ipairs(t) do
    if type(x) == "table" then flatten(x, out) else out[#out + 1] = x end
  end
  return out
end
local function measure(t)
  local n, s, d = 0, 0, 0
  for _, x in pairs(t) do
    if type(x) == "table" then
      local n1, s1, d1 = measure(x)
      n, s, d = n + n1, s + s1, d1 > d and d1 or d
    else
      n, s = n + 1, s + x
    end
  end
  return n, s, d + 1
end
for round = 1, 12 do
  local t = nested(round, round % 6)
  local out = flatten(t, {})
  if round % 3 == 0 then print(round, #out, out[#out], measure(t)) end
end

-- Combinations by iterators over iterators.
local function choose(n, k)
  if k == 0 then
    local done = false
    return function()
      if done then return end
      done = true
      return ""
    end
  end
  local last, rest = k - 1, nil
  return function()
    while true do
      local r = rest and rest()
      if r then return r .. string.char(96 + last) end
      if last >= n then return end
      last = last + 1
      rest = choose(last - 1, k - 1)
    end
  end
end
for k = 0, 4 do
  local out = {}
  for c in choose(6, k) do out[#out + 1] = c end
  print(k, #out, table.concat(out, " "))
end

-- The loop's own variables at each depth: control values that are changed inside, and inner loops that use
-- the same iterator.
local function by(step, limit)
  return function(_, i)
    i = i + step
    if i <= limit then return i, limit - i end
  end, nil, 0
end
local total = 0
local function walk(depth, step)
  local s = 0
  for i, left in by(step, 6) do
    local k = i
    i = i * 100
    if depth > 0 then s = s + walk(depth - 1, step + (k % 2 == 0 and 0.5 or 1)) end
    s = s + k + left * 0.25
    total = total + i
  end
  return s
end
for depth = 0, 6 do print(depth, walk(depth, 1), total) end

-- next and ipairs with objects that change their iterator by __call.
local Range = {}
Range.__index = Range
Range.__call = function(r, _, i)
  i = (i or r.from - 1) + 1
  if i <= r.to then return i end
end
local function sum(from, to)
  local s = 0
  for i in setmetatable({ from = from, to = to }, Range) do
    s = s + i
    if i < to and i % 3 == 0 then s = s + sum(i + 1, to) end
  end
  return s
end
for n = 1, 18, 2 do io.write(sum(1, n), " ") end
print()
