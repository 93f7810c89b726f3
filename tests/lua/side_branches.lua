-- Loops with several paths: each path but the first is a side trace, and leads back to the loop.
local function kind (i)
  if i % 15 == 0 then return "both"
  elseif i % 5 == 0 then return "five"
  elseif i % 3 == 0 then return "three"
  end
  return nil, i
end

local count = { both = 0, five = 0, three = 0 }
local sum, last = 0, nil
for i = 1, 300 do
  local k, n = kind(i)
  if k then
    count[k] = count[k] + 1
    last = k
  else
    sum = sum + n
    last = n
  end
end
print(count.both, count.five, count.three, sum, last)

-- The type of a variable depends on the path.
local x = 0
for i = 1, 200 do
  if i & 3 == 0 then x = x + 0.5
  elseif i & 3 == 1 then x = x // 1
  elseif i & 3 == 2 then x = tostring(x)
  else x = tonumber(x) + 1
  end
end
print(x, math.type(x))

-- Three counters, and paths that meet again.
local a, b, c = 0, 0, 0
for i = 1, 250 do
  if i % 2 == 0 then a = a + 1 else b = b + 1 end
  if i % 3 == 0 then c = c + a elseif i % 7 == 0 then c = c - b end
end
print(a, b, c)

-- goto and break out of the middle of a path.
local steps = 0
for round = 1, 60 do
  local i = round
  while true do
    steps = steps + 1
    if i == 1 then break end
    if i % 2 == 0 then i = i // 2 goto continue end
    i = 3 * i + 1
    ::continue::
    if steps > 100000 then error("never") end
  end
end
print(steps)

-- An error on the rare path of a hot loop, caught outside: message and line must be the interpreter's.
local function risky (n)
  local t = { v = 1 }
  for i = 1, n do
    if i % 2 == 0 then t.v = t.v + i else t.v = t.v - i end
    if i == 77 then t = nil end
  end
end
print(pcall(risky, 76), pcall(risky, 80))

-- Boolean results on both paths, stored in a table.
local flags, yes = {}, 0
for i = 1, 120 do flags[i] = i % 4 == 1 or i % 6 == 3 end
for i = 1, 120 do if flags[i] then yes = yes + 1 end end
print(yes)
