-- Tail calls out of loops: of numeric loops, generic ones, while and repeat, from inside nested loops, with
-- captured loop variables, and with what the loop has computed so far as arguments.
local find
local function other(t, i, steps) return find(t, i, steps + 1) end
function find(t, from, steps)
  for i = from, #t do
    if t[i] == 0 then return "found", i, steps end
    if t[i] < 0 then return other(t, i - t[i], steps) end
  end
  return "end", #t, steps
end
local t = {}
for i = 1, 200 do t[i] = i % 7 == 0 and -(i % 5) - 1 or i end
for round = 1, 10 do
  t[201 - round * 15] = 0
  print(round, find(t, 1, 0))
end

local function scan(s, steps)
  for word, stop in s:gmatch("(%w+)()") do
    if #word % 3 == 0 then return scan(s:sub(stop), steps + #word) end
    steps = steps + 0.5
  end
  return steps
end
for n = 1, 8 do print(n, scan(("ab abc d efghij kl "):rep(n), 0)) end

local function sieve(list, i)
  local p = list[i]
  if p == nil or p * p > list[#list] then return list end
  local out = {}
  for k, v in ipairs(list) do
    if k <= i or v % p ~= 0 then out[#out + 1] = v end
  end
  return sieve(out, i + 1)
end
local numbers = {}
for i = 2, 200 do numbers[#numbers + 1] = i end
local primes = sieve(numbers, 1)
print(#primes, primes[#primes], primes[10])

local function spiral(x, y, n, sum)
  while true do
    local k = 0
    repeat
      if n <= 0 then return x, y, sum end
      x, n, k = x + 1, n - 1, k + 1
      if x % 5 == 0 then return spiral(y, x / 2, n - 1, sum + k) end
    until x > 40
    for i = 1, 3 do
      for j = i, 3 do
        sum = sum + i * j
        if (sum + n) % 11 == 0 then return spiral(x - 41, y + j, n - 3, sum) end
      end
    end
    x = 0
  end
end
for n = 0, 900, 75 do print(n, spiral(0, 0, n, 0)) end

-- The loop's variable is captured, so that it is closed before the tail call.
local kept = {}
local function capture(n, limit)
  for i = n, n + 3 do
    local x = i * 2
    kept[#kept + 1] = function() x = x + 1 return x, i end
    if i == limit then return "limit", i, x end
    if i % 4 == 3 then return capture(i + 1, limit) end
  end
  return capture(n + 1, limit)
end
for limit = 1, 60, 6 do print(limit, #kept, capture(1, limit)) end
local s = 0
for k, f in ipairs(kept) do
  local x, i = f()
  s = s + x * k - i
end
print(s, kept[1](), kept[#kept]())

-- A variable to be closed makes it a plain call.
local log = {}
local function closes(n)
  for i = 1, 3 do
    local g <close> = setmetatable({}, { __close = function() log[#log + 1] = n * 10 + i end })
    if i == n % 3 + 1 then
      if n == 0 then return "bottom" end
      return closes(n - 1)
    end
  end
end
for n = 0, 8, 4 do
  log = {}
  print(n, closes(n), table.concat(log, " "))
end
