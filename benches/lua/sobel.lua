-- sobel(width, height, repeats): how steep an image of 256 greys is at each point. Each repeat makes a new image.
local Array2D = require("array2d")
local random = require("random")
local timer = require("timer")

local floor, min, sqrt = math.floor, math.min, math.sqrt

local function magnitude(a)
    local b = Array2D.new(a.width, a.height)
    for y = 1, a.height - 2 do
        for x = 1, a.width - 2 do
            local dx = a:get(x + 1, y - 1) - a:get(x - 1, y - 1)
                + 2.0 * (a:get(x + 1, y) - a:get(x - 1, y))
                + a:get(x + 1, y + 1) - a:get(x - 1, y + 1)
            local dy = a:get(x - 1, y + 1) - a:get(x - 1, y - 1)
                + 2.0 * (a:get(x, y + 1) - a:get(x, y - 1))
                + a:get(x + 1, y + 1) - a:get(x + 1, y - 1)
            b:set(x, y, min(floor(sqrt(dx * dx + dy * dy) / 4.0), 255))
        end
    end
    return b
end

return function(width, height, repeats)
    local next_real = random.reals(80808)
    local a, b = Array2D.new(width, height), nil
    a:fill(function()
        return floor(next_real() * 256.0) + 0.0
    end)
    timer.start()
    for _ = 1, repeats do
        b = magnitude(a)
    end
    timer.stop()
    return b:checksum()
end
