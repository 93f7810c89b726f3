-- sqrt(int) where all numbers are doubles: each division is rounded down.
local timer = require("timer")

local floor = math.floor

local function sqrt(y, iterations)
    local x = floor(y / 2)
    for _ = 2, iterations do
        x = floor((x + floor(y / x)) / 2)
    end
    return x
end

return function(iterations)
    timer.start()
    local root = sqrt(1234567, iterations)
    timer.stop()
    return root
end
