-- A program of ten lines: how many steps the numbers below n take to 1 by Collatz's rule.
local timer = require("timer")

local function longest(n)
    local best, start = 0, 1
    for i = 1, n do
        local number, steps = i, 0
        while number ~= 1 do
            number = number % 2 == 0 and math.floor(number / 2) or 3 * number + 1
            steps = steps + 1
        end
        if steps > best then best, start = steps, i end
    end
    return start * 1000 + best
end

return function(n)
    timer.start()
    local result = longest(n)
    timer.stop()
    return result
end
