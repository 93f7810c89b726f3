-- A branch that no predictor knows, and a store to another array on each way, so that no select can serve.
-- One way runs alone before the time is taken, and so is compiled first: 'first' says which.
local timer = require("timer")

local function toss(a, b, n, state, limit)
    local sum = 0
    for i = 1, n do
        state = state * 16807 % 2147483647
        if state >= limit then
            a[i] = a[i] + i
            sum = sum + 1
        else
            b[i] = b[i] + 2 * i
            sum = sum + 3
        end
    end
    return state, sum
end

local function zeros(n)
    local list = {}
    for i = 1, n do
        list[i] = 0
    end
    return list
end

return function(n, repeats, first)
    toss(zeros(n), zeros(n), n, 1, first == 1 and 0 or 2147483647)
    local a, b = zeros(n), zeros(n)
    local state, all, sum = 12345, 0, 0
    timer.start()
    for _ = 1, repeats do
        state, sum = toss(a, b, n, state, 1073741824)
        all = all + sum
    end
    timer.stop()
    return all + a[n] + b[1]
end
