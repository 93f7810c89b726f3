-- MonteCarlo(samples): pi from the share of random points of the unit square that lie in the circle.
--
-- The points come from a subtractive lagged generator, an object: as in the paper, most of the time goes there.
local random = require("random")
local timer = require("timer")

local MODULUS = 2147483647
local LONG, SHORT = 17, 5

local Generator = {}
Generator.__index = Generator

function Generator.new(seed)
    local next_integer = random.integers(seed)
    local state = {}
    for i = 1, LONG do
        state[i] = next_integer()
    end
    return setmetatable({ state = state, i = LONG, j = SHORT }, Generator)
end

function Generator:next()
    local state, i, j = self.state, self.i, self.j
    local number = state[i] - state[j]
    if number < 0 then
        number = number + MODULUS
    end
    state[i] = number
    i = i - 1
    if i == 0 then
        i = LONG
    end
    j = j - 1
    if j == 0 then
        j = LONG
    end
    self.i, self.j = i, j
    return number / MODULUS
end

return function(samples)
    local generator = Generator.new(113)
    local inside = 0
    timer.start()
    for _ = 1, samples do
        local x = generator:next()
        local y = generator:next()
        if x * x + y * y <= 1.0 then
            inside = inside + 1
        end
    end
    timer.stop()
    return 4.0 * inside / samples
end
