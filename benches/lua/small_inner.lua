-- inner(n, length): an inner loop of so few iterations that what surrounds it matters.
local timer = require("timer")

local function sums(rows, n, length)
    local total = 0.0
    for i = 1, n do
        local row = rows[i % 64 + 1]
        for j = 1, length do
            total = total + row[j]
        end
        total = total * 0.5
    end
    return total
end

return function(n, length)
    local rows = {}
    for i = 1, 64 do
        rows[i] = {}
        for j = 1, length do
            rows[i][j] = i * 10.0 + j
        end
    end
    timer.start()
    local total = sums(rows, n, length)
    timer.stop()
    return total
end
