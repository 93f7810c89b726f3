-- A two-dimensional array: row-major, indexed from 0, with bounds checks.
local Array2D = {}
Array2D.__index = Array2D

function Array2D.new(width, height)
    local data = {}
    for i = 1, width * height do
        data[i] = 0.0
    end
    return setmetatable({ width = width, height = height, data = data }, Array2D)
end

function Array2D:get(x, y)
    if x < 0 or x >= self.width or y < 0 or y >= self.height then
        error("index out of bounds")
    end
    return self.data[y * self.width + x + 1]
end

function Array2D:set(x, y, value)
    if x < 0 or x >= self.width or y < 0 or y >= self.height then
        error("index out of bounds")
    end
    self.data[y * self.width + x + 1] = value
end

-- Calls 'source' once for each element, row by row.
function Array2D:fill(source)
    for y = 0, self.height - 1 do
        for x = 0, self.width - 1 do
            self:set(x, y, source())
        end
    end
end

-- A sum in which each place counts differently.
function Array2D:checksum()
    local sum = 0.0
    for y = 0, self.height - 1 do
        for x = 0, self.width - 1 do
            sum = sum + self:get(x, y) * ((x + 3 * y) % 7 + 1)
        end
    end
    return sum
end

return Array2D
