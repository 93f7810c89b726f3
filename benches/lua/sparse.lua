-- SparseMatMult(n, nonzeros, repeats): an n x n matrix in compressed rows times a dense vector.
local random = require("random")
local timer = require("timer")

-- Row i (from 1) has the elements first[i] to first[i + 1] - 1; their columns lie scattered over the row.
local function random_matrix(n, nonzeros, next_real)
    local per_row = math.floor(nonzeros / n)
    local values, columns, first = {}, {}, {}
    for i = 1, n do
        first[i] = (i - 1) * per_row + 1
        local step = math.max(1, math.floor(i / per_row))
        for k = 0, per_row - 1 do
            values[first[i] + k] = next_real()
            columns[first[i] + k] = (k * step) % n + 1
        end
    end
    first[n + 1] = n * per_row + 1
    return values, columns, first
end

local function multiply(result, n, values, columns, first, vector)
    for i = 1, n do
        local sum = 0.0
        for k = first[i], first[i + 1] - 1 do
            sum = sum + vector[columns[k]] * values[k]
        end
        result[i] = sum
    end
end

return function(n, nonzeros, repeats)
    local next_real = random.reals(40404)
    local vector, result = {}, {}
    for i = 1, n do
        vector[i] = next_real()
        result[i] = 0.0
    end
    local values, columns, first = random_matrix(n, nonzeros, next_real)
    timer.start()
    for _ = 1, repeats do
        multiply(result, n, values, columns, first, vector)
    end
    timer.stop()
    local sum = 0.0
    for i = 1, n do
        sum = sum + result[i] * (i % 6 + 1)
    end
    return sum
end
