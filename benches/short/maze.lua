-- Breadth-first search through a grid with walls.
local width, height = 220, 160
local grid, seed = {}, 99
for i = 1, width * height do
    seed = seed * 16807 % 2147483647
    grid[i] = seed % 10 < 3
end
grid[1], grid[width * height] = false, false

local distance, queue, first = { [1] = 0 }, { 1 }, 1
local steps = { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } }
while queue[first] do
    local place = queue[first]
    first = first + 1
    local x, y = (place - 1) % width, math.floor((place - 1) / width)
    for _, step in ipairs(steps) do
        local nx, ny = x + step[1], y + step[2]
        if nx >= 0 and nx < width and ny >= 0 and ny < height then
            local next_place = ny * width + nx + 1
            if not grid[next_place] and not distance[next_place] then
                distance[next_place] = distance[place] + 1
                queue[#queue + 1] = next_place
            end
        end
    end
end
print(#queue, distance[width * height])
