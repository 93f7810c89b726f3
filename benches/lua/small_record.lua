-- A record made in one iteration and used in the next.
local timer = require("timer")

local function walk(n)
    local place = { x = 0.0, y = 1.0 }
    for _ = 1, n do
        place = { x = place.x + 0.001 * place.y, y = place.y - 0.001 * place.x }
    end
    return place.x + place.y
end

return function(n)
    timer.start()
    local result = walk(n)
    timer.stop()
    return result
end
