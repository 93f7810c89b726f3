-- Forty generations of Conway's game on a torus.
local width, height = 64, 48
local cells, seed = {}, 3
for i = 0, width * height - 1 do
    seed = seed * 16807 % 2147483647
    cells[i] = seed % 3 == 0 and 1 or 0
end
for _ = 1, 40 do
    local next_cells = {}
    for y = 0, height - 1 do
        local above, row, below = (y - 1) % height * width, y * width, (y + 1) % height * width
        for x = 0, width - 1 do
            local left, right = (x - 1) % width, (x + 1) % width
            local neighbours = cells[above + left] + cells[above + x] + cells[above + right]
                + cells[row + left] + cells[row + right]
                + cells[below + left] + cells[below + x] + cells[below + right]
            if neighbours == 3 or neighbours == 2 and cells[row + x] == 1 then
                next_cells[row + x] = 1
            else
                next_cells[row + x] = 0
            end
        end
    end
    cells = next_cells
end
local alive = 0
for i = 0, width * height - 1 do
    alive = alive + cells[i]
end
print(alive)
