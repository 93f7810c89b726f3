-- The data of all benchmarks: Lehmer's generator, multiplier 16807, modulus 2^31 - 1. Its products stay below 2^53, so
-- that integers and doubles give the same numbers in every language.
local random = {}

-- A function that gives the next number of a sequence in [1, 2^31 - 2].
function random.integers(seed)
    local state = seed
    return function()
        state = state * 16807 % 2147483647
        return state
    end
end

-- The same, in (0, 1).
function random.reals(seed)
    local next_integer = random.integers(seed)
    return function()
        return next_integer() / 2147483647
    end
end

return random
