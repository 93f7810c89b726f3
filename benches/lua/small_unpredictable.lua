-- A branch that no predictor knows: half the range of a random generator.
local timer = require("timer")

local function toss(n)
    local state, heads, sum = 12345, 0, 0.0
    for i = 1, n do
        state = state * 16807 % 2147483647
        if state >= 1073741824 then
            heads = heads + 1
        else
            sum = sum + i * 0.5
        end
    end
    return heads + sum
end

return function(n)
    timer.start()
    local result = toss(n)
    timer.stop()
    return result
end
