-- Arrays of booleans: the sieve of Eratosthenes.
local count = 0
for _ = 1, 4 do
  local composite = {}
  count = 0
  for n = 2, 1000000 do
    if not composite[n] then
      count = count + 1
      for multiple = n * n, 1000000, n do composite[multiple] = true end
    end
  end
end
print(count)
