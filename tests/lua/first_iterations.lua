-- Variables that get their types in a loop's first iteration: code of the loop expects the types of the later
-- ones, and what leads to it from outside has to pass the first one.

local list = {}
for i = 1, 10 do list[i] = i * 0.5 end

local function dot(t, n, k)
  local sum = 0
  for j = 1, n do sum = sum + t[j] * k end
  return sum
end

local function joined(t, n)
  local text
  for j = 1, n do
    if text then text = text .. "," .. t[j] else text = t[j] end
  end
  return text
end

local function longest(words)
  local best
  for _, word in ipairs(words) do
    if not best or #word > #best then best = word end
  end
  return best
end

local function average(t, from)
  local sum, count, j = 0, 0, from
  while t[j] do
    sum, count, j = sum + t[j], count + 1, j + 1
  end
  return count > 0 and sum / count or nil
end

local total, texts = 0, {}
for i = 1, 300 do
  total = total + dot(list, i % 11, i)
  texts[i % 7 + 1] = joined(list, i % 5 + 1)
end
print(total, table.concat(texts, " "))

local words = { "a", "bcd", "ef", "ghij", "k" }
local seen = {}
for i = 1, 200 do
  words[i % 5 + 1] = string.rep("x", i % 9)
  local best = longest(words)
  seen[best] = (seen[best] or 0) + 1
end
for i = 0, 8 do io.write(seen[string.rep("x", i)] or 0, " ") end
print()

local sums = {}
for i = 1, 200 do sums[i % 12] = average(list, i % 12 + 1) end
for i = 0, 11 do io.write(tostring(sums[i]), " ") end
print()

-- Integers in some calls, floats in others, and both within one.
local function mixed(t, n)
  local a, b = 0, 0
  for j = 1, n do
    a, b = b + t[j], a
  end
  return a, b
end
local ints, both = { 1, 2, 3, 4, 5, 6 }, { 1, 2.5, 3, 4.5, 5, 6.5 }
local x, y = 0, 0
for i = 1, 300 do
  local t = i % 3 == 0 and both or i % 7 == 0 and list or ints
  local p, q = mixed(t, i % 6 + 1)
  x, y = x + p, y + q
end
print(x, y, math.type(x), math.type(y))
