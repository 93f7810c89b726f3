-- SOR(n, sweeps): Jacobi successive over-relaxation on an n x n grid, an array of rows.
local random = require("random")
local timer = require("timer")

local function relax(grid, n, omega, sweeps)
    local quarter, rest = omega * 0.25, 1.0 - omega
    for _ = 1, sweeps do
        for i = 2, n - 1 do
            local above, row, below = grid[i - 1], grid[i], grid[i + 1]
            for j = 2, n - 1 do
                row[j] = quarter * (above[j] + below[j] + row[j - 1] + row[j + 1]) + rest * row[j]
            end
        end
    end
end

return function(n, sweeps)
    local next_real = random.reals(30303)
    local grid = {}
    for i = 1, n do
        local row = {}
        for j = 1, n do
            row[j] = next_real()
        end
        grid[i] = row
    end
    timer.start()
    relax(grid, n, 1.25, sweeps)
    timer.stop()
    local sum = 0.0
    for i = 1, n do
        for j = 1, n do
            sum = sum + grid[i][j] * ((i + j) % 4 + 1)
        end
    end
    return sum
end
