-- Inner loops of random lengths, in the loop's own function and in functions and methods that it calls: the
-- trees of the inner and the outer loop lead to one another, in frames of different functions.

local seed = 11
local function random(n)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return seed // 65536 % n
end

local N = 100
local lengths, items = {}, {}
for i = 1, N do lengths[i] = random(7) end
for i = 1, 8 do items[i] = random(50) end

local Sum = {}
Sum.__index = Sum
function Sum:add(n, k)
  local q, j = 0, 1
  while j <= n do
    local v = self.items[j]
    if v % 2 == 0 then q = q + v * k else q = q - v end
    j = j + 1
  end
  self.calls = self.calls + 1
  return q
end

local function below(n, limit)
  local count = 0
  for j = 1, n do
    if items[j] < limit then count = count + 1 elseif count > 3 then return -count end
  end
  return count
end

local object = setmetatable({ items = items, calls = 0 }, Sum)
local total, counts = 0, {}
for r = 1, 20 do
  for i = 1, N do
    total = total + object:add(lengths[i], r)
    local count = below(lengths[N + 1 - i], r * 2)
    counts[count] = (counts[count] or 0) + 1
    for j = 1, lengths[i] do
      if (i + j + r) % 9 == 0 then total = total + j end
    end
  end
end
print(total, object.calls)
for count = -7, 7 do io.write(counts[count] or 0, " ") end
print()

-- The inner function is exchanged in the middle, and so is the object.
local function twice(n) local s = 0 for j = 1, n do s = s + items[j] * 2 end return s end
local function thrice(n) local s = 0.0 for j = 1, n do s = s + items[j] * 3 end return s end
local work, out = twice, {}
local i, s = 0, 0
repeat
  i = i + 1
  s = s + work(lengths[i % N + 1])
  if i % 300 == 0 then
    work = work == twice and thrice or twice
    out[#out + 1] = s
  end
until i >= 1500
print(table.concat(out, " "))

-- Three levels, and a call of a function of the host in the middle of one way.
local found = 0
for a = 1, 30 do
  for b = 1, lengths[a] do
    for c = b, lengths[b] do
      if (a * b + c) % 5 == 0 then found = found + #tostring(a * c) else found = found + c end
    end
    if b == 6 then table.sort(items, function (x, y) return x < y end) end
  end
end
print(found, table.concat(items, " "))
