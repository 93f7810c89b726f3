-- The primes below 300,000.
local limit = 300000
local composite, primes, last = {}, 0, 0
for i = 2, limit do
    if not composite[i] then
        primes, last = primes + 1, i
        for multiple = i * i, limit, i do
            composite[multiple] = true
        end
    end
end
print(primes, last)
