-- A variable that is an integer at first and a float from the middle on.
local timer = require("timer")

local function sum(n)
    local total, step, middle = 0, 1, math.floor(n / 2)
    for i = 1, n do
        if i == middle then
            step = 0.5
        end
        total = total + step
    end
    return total
end

return function(n)
    timer.start()
    local result = sum(n)
    timer.stop()
    return result
end
