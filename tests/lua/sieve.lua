-- The sieve of Eratosthenes, once with booleans and once with numbers.
local function sieve(n)
  local composite, count = {}, 0
  for i = 1, n do composite[i] = false end
  for i = 2, n do
    if not composite[i] then
      count = count + 1
      for j = i * i, n, i do composite[j] = true end
    end
  end
  return count
end
print(sieve(10), sieve(300))
local function sieve2(n)
  local mark, sum = {}, 0
  for i = 1, n do mark[i] = 1 end
  for i = 2, n do
    if mark[i] == 1 then
      sum = sum + i
      for j = i + i, n, i do mark[j] = 0 end
    end
  end
  return sum
end
print(sieve2(10), sieve2(300))
