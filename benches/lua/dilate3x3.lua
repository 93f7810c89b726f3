-- dilate3x3(width, height, repeats): as conv3x3, with the largest product instead of their sum.
local Array2D = require("array2d")
local random = require("random")
local timer = require("timer")

local max = math.max

local function dilate(a, kernel, b)
    for y = 1, a.height - 2 do
        for x = 1, a.width - 2 do
            b:set(x, y, max(
                kernel:get(2, 2) * a:get(x - 1, y - 1), kernel:get(1, 2) * a:get(x, y - 1),
                kernel:get(0, 2) * a:get(x + 1, y - 1), kernel:get(2, 1) * a:get(x - 1, y),
                kernel:get(1, 1) * a:get(x, y), kernel:get(0, 1) * a:get(x + 1, y),
                kernel:get(2, 0) * a:get(x - 1, y + 1), kernel:get(1, 0) * a:get(x, y + 1),
                kernel:get(0, 0) * a:get(x + 1, y + 1)))
        end
    end
end

return function(width, height, repeats)
    local next_real = random.reals(70707)
    local a, b, kernel = Array2D.new(width, height), Array2D.new(width, height), Array2D.new(3, 3)
    a:fill(next_real)
    kernel:fill(next_real)
    timer.start()
    for _ = 1, repeats do
        dilate(a, kernel, b)
    end
    timer.stop()
    return b:checksum()
end
