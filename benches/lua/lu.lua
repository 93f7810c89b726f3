-- LU(n, repeats): a dense n x n matrix, an array of rows, is factored with partial pivoting.
local random = require("random")
local timer = require("timer")

local function random_matrix(n)
    local next_real = random.reals(20202)
    local matrix = {}
    for i = 1, n do
        local row = {}
        for j = 1, n do
            row[j] = next_real()
        end
        matrix[i] = row
    end
    return matrix
end

local function copy(from, to, n)
    for i = 1, n do
        local source, target = from[i], to[i]
        for j = 1, n do
            target[j] = source[j]
        end
    end
end

-- Factors in place; rows change places, 'pivots' tells which.
local function factor(matrix, pivots, n)
    for j = 1, n do
        local best, size = j, math.abs(matrix[j][j])
        for i = j + 1, n do
            local candidate = math.abs(matrix[i][j])
            if candidate > size then
                best, size = i, candidate
            end
        end
        pivots[j] = best
        if size == 0.0 then
            error("the matrix is singular")
        end
        if best ~= j then
            matrix[j], matrix[best] = matrix[best], matrix[j]
        end
        local inverse = 1.0 / matrix[j][j]
        for i = j + 1, n do
            matrix[i][j] = matrix[i][j] * inverse
        end
        local pivot_row = matrix[j]
        for i = j + 1, n do
            local row = matrix[i]
            local multiple = row[j]
            for k = j + 1, n do
                row[k] = row[k] - multiple * pivot_row[k]
            end
        end
    end
end

return function(n, repeats)
    local original, matrix, pivots = random_matrix(n), {}, {}
    for i = 1, n do
        matrix[i] = {}
    end
    timer.start()
    for _ = 1, repeats do
        copy(original, matrix, n)
        factor(matrix, pivots, n)
    end
    timer.stop()
    local sum = 0.0
    for i = 1, n do
        sum = sum + matrix[i][i] * i + pivots[i] % 3
    end
    return sum
end
