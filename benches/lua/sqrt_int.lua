-- sqrt(int): Newton's iteration on Lua 5.4's integers.
local timer = require("timer")

local function sqrt(y, iterations)
    local x = y // 2
    for _ = 2, iterations do
        x = (x + y // x) // 2
    end
    return x
end

return function(iterations)
    timer.start()
    local root = sqrt(1234567, iterations)
    timer.stop()
    return root
end
