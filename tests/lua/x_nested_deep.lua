-- Loops four deep of every kind, with breaks out of each, inner loops of no rounds, bounds that change while they run.
local s = 0
for a = 1, 4 do
  local b = 0
  while b < 4 do
    b = b + 1
    local c = 0
    repeat
      c = c + 1
      for d = c, b, a % 2 == 0 and 1 or -1 do
        if d == 3 then break end
        s = s * 3 % 100003 + a * 1000 + b * 100 + c * 10 + d
      end
      local stop = c * b > 9
      if a == 3 and c == 2 then break end
    until stop or c == 4
    if b == 3 and a == 2 then break end
  end
end
print(s)
local n, rounds = 10, 0
for i = 1, n do n = 5; for j = 1, n do n = n + (j < 3 and 1 or 0); rounds = rounds + 1 end end
print(n, rounds)
local total = 0
for i = 1, 60 do for j = i, 3 do for k = j, i do total = total + i * j * k end end end
print(total)
local t = 0
for i = 1, 20 do
  for j = 1, i % 4 do t = t + j end
  for j = 1.0, i % 3 do t = t + j end
  for j = 3, i % 5, -1 do t = t - j end
end
print(t)
local function pyramid(h)
  local rows = {}
  for i = 1, h do
    local row = {}
    for j = 1, i do row[j] = j == 1 and 1 or j == i and 1 or rows[i - 1][j - 1] + rows[i - 1][j] end
    rows[i] = row
  end
  return rows
end
local p = pyramid(30)
print(p[30][15], p[10][5], #p[20])
local primes, count = {}, 0
for i = 2, 200 do
  local is = true
  for j = 1, count do
    local q = primes[j]
    if q * q > i then break end
    if i % q == 0 then is = false break end
  end
  if is then count = count + 1; primes[count] = i end
end
print(count, primes[count])
local w = 0
for i = 1, 6 do for j = 1, 6 do for k = 1, 6 do for l = 1, 6 do w = w + (i ~ j) * (k | l) end end end end
print(w)
local outer = 0
while true do
  outer = outer + 1
  local inner = 0
  while true do inner = inner + 1; if inner > outer % 5 then break end end
  if inner == 5 and outer > 60 then break end
end
print(outer)
