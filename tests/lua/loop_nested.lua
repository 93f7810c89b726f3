-- Nested loops of all kinds, with conditionals inside.
local n = 0
for i = 1, 12 do
  for j = i, 12 do
    if (i + j) % 3 == 0 then
      n = n + i * j
    elseif j % 2 == 0 then
      if i > 6 then n = n - 1 else n = n + 1 end
    else
      local k = 0
      while k < 3 do k = k + 1; n = n + k end
    end
  end
end
print(n)
local primes = 0
for p = 2, 60 do
  local is_prime = true
  for d = 2, p - 1 do
    if d * d > p then break end
    if p % d == 0 then is_prime = false break end
  end
  if is_prime then primes = primes + p end
end
print(primes)
local m = {}
for i = 1, 6 do
  m[i] = {}
  for j = 1, 6 do m[i][j] = i * j end
end
local trace, total = 0, 0
for i = 1, 6 do
  local row = m[i]
  trace = trace + row[i]
  for j = 1, 6 do total = total + row[j] * m[j][i] end
end
print(trace, total)
