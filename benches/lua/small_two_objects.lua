-- A branch that no predictor knows, and an object that is carried over the back edge on both ways.
-- One way runs alone before the time is taken, and so is compiled first: 'first' says which.
local timer = require("timer")

local function toss(n, state, limit, point)
    for i = 1, n do
        state = state * 16807 % 2147483647
        if state >= limit then
            point = { x = point.x + i, y = point.y }
        else
            point = { x = point.x, y = point.y + 2 * i }
        end
    end
    return state, point
end

return function(n, repeats, first)
    toss(n, 1, first == 1 and 0 or 2147483647, { x = 0, y = 0 })
    local state, point = 12345, { x = 0, y = 0 }
    timer.start()
    for _ = 1, repeats do
        state, point = toss(n, state, 1073741824, point)
    end
    timer.stop()
    return point.x + point.y
end
