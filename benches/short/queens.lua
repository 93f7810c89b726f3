-- All ways to place nine queens.
local size = 9
local columns, rising, falling, solutions = {}, {}, {}, 0

local function place(row)
    if row > size then
        solutions = solutions + 1
        return
    end
    for column = 1, size do
        if not (columns[column] or rising[row + column] or falling[row - column + size]) then
            columns[column], rising[row + column], falling[row - column + size] = true, true, true
            place(row + 1)
            columns[column], rising[row + column], falling[row - column + size] = false, false, false
        end
    end
end

place(1)
print(solutions)
