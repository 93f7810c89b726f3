-- Nests of loops of all kinds: the inner loop is compiled first, and the way around it is a side trace of its end.
local s = 0
for i = 1, 60 do
  for j = i, 60, 3 do
    s = s + i * j
  end
  for j = 5, 1, -2 do s = s - j end
end
print(s)

local f = 0.0
for i = 1, 40 do
  for x = 0.0, 1.0, 0.125 do f = f + x * i end
  for x = 2.0, 1.0, -0.25 do f = f - x end
end
print(f)

-- Inner loops that run no times, once, or a few times.
local none, once, few = 0, 0, 0
for i = 1, 100 do
  for j = i, 0 do none = none + 1 end
  for j = i, i do once = once + j end
  for j = 1, i % 4 do few = few + j end
end
print(none, once, few)

-- while and repeat inside for, with locals in the condition.
local u = 0
for i = 1, 80 do
  local j = 0
  while j < i % 7 do
    j = j + 1
    if j == 4 then break end
    u = u + j
  end
  repeat
    j = j - 1
    local z = j * 2
    u = u - z
  until z <= 0
end
print(u)

-- Three deep, over a table of tables.
local m = {}
for i = 1, 12 do
  m[i] = {}
  for j = 1, 12 do m[i][j] = (i * 7 + j * 3) % 11 end
end
local function multiply (a, b)
  local r = {}
  for i = 1, #a do
    local row, ri = a[i], {}
    for j = 1, #b[1] do
      local t = 0
      for k = 1, #b do t = t + row[k] * b[k][j] end
      ri[j] = t
    end
    r[i] = ri
  end
  return r
end
local p = multiply(m, multiply(m, m))
local trace = 0
for i = 1, 12 do trace = trace + p[i][i] end
print(trace, p[3][9], p[12][1])

-- Generic loops inside.
local keys = { a = 1, b = 2, c = 3, 10, 20, 30 }
local sum, pairs_seen = 0, 0
for round = 1, 50 do
  for k, v in next, keys do sum = sum + v pairs_seen = pairs_seen + 1 end
  for i, v in ipairs({ round, round + 1, round + 2 }) do sum = sum + i * v end
end
print(sum, pairs_seen)

local function range (n)
  local i = 0
  return function ()
    i = i + 1
    if i <= n then return i, i * i end
  end
end
local squares = 0
for round = 1, 60 do
  for i, q in range(round % 6) do squares = squares + q - i end
end
print(squares)

-- The outer loop's variable changes its type half-way; the inner loop must notice.
local v, w = 1, 0
for i = 1, 60 do
  if i == 31 then v = v + 0.5 end
  for j = 1, 5 do w = w + v end
end
print(w)

-- The inner loop changes a table that the outer one reads.
local sieve, primes = {}, 0
for i = 2, 200 do
  if not sieve[i] then
    primes = primes + 1
    for j = i * i, 200, i do sieve[j] = true end
  end
end
print(primes)
