-- sqrt(float): Newton's iteration on floats.
local sqrt = require("sqrt")
local timer = require("timer")

return function(iterations)
    timer.start()
    local root = sqrt(123.0, iterations)
    timer.stop()
    return root
end
