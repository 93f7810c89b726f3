-- Variables of outer functions that a recursion reads and writes: counters, locals of the main program, of
-- loops, of callers in between; changed by others while the recursion runs.
local counter, last, text = 0, nil, "a"
local function count(n)
  counter = counter + 1
  last = n
  if n == 0 then text = #text > 20 and "a" or text .. "b" return counter end
  if n % 5 == 0 then counter = counter + 0.5 end
  local r = count(n - 1)
  return r + counter
end
for i = 1, 30 do
  local before = counter
  local r = count(i % 13)
  print(i, before, r, counter, last, text)
  if i % 10 == 0 then counter = i end
end

for i = 1, 12 do
  local mine, kept = i, {}
  local function touch(n)
    mine = mine + n
    if n == 0 then kept[#kept + 1] = mine return mine end
    touch(n - 1)
    mine = mine - 1
    return mine
  end
  local a = touch(i)
  mine = mine * 2
  local b = touch(3)
  print(a, b, mine, #kept, kept[1], kept[2])
end

local function outer(n)
  local seen, most = 0, 0
  local function inner(m)
    seen = seen + 1
    if m > most then most = m end
    if m <= 1 then return 1 end
    if m % 2 == 0 then return inner(m // 2) + 1 end
    return inner(3 * m + 1) + 1
  end
  local r = 0
  for i = 1, n do r = r + inner(i) end
  return r, seen, most
end
for n = 1, 20, 3 do print(n, outer(n)) end

-- Of a while loop, which goes on until the recursion says so; and of a repeat loop's condition.
local limit, rounds = 20, 0
local function lower(n) if n <= 0 then limit = limit - 1 return end lower(n - 1) end
while limit > 0 do rounds = rounds + 1 lower(limit % 4) if limit == 7 then limit = 5.5 end end
print(limit, rounds)
repeat
  local stop = false
  local function set(n) rounds = rounds + 1 if n == 0 then stop = rounds > 150 return end set(n - 1) end
  set(9)
until stop
print(rounds)
local function even_counter()
  local n = 0
  return function(step) n = n + step return n end, function() return n end
end
local add, get = even_counter()
local function adds(n) if n == 0 then return get() end add(n) return adds(n - 1) + get() end
for i = 1, 15 do io.write(adds(i), " ", get(), "; ") end
print()
