-- A call of a small Lua function in the loop.
local timer = require("timer")

local function clamp(value, low, high)
    if value < low then
        return low
    elseif value > high then
        return high
    end
    return value
end

local function accumulate(n)
    local sum = 0
    for i = 1, n do
        sum = sum + clamp(i, 10, 1000000000)
    end
    return sum
end

return function(n)
    timer.start()
    local sum = accumulate(n)
    timer.stop()
    return sum
end
