-- conv3x3(width, height, repeats): convolution of an image with a kernel of 3 x 3 numbers.
local Array2D = require("array2d")
local random = require("random")
local timer = require("timer")

local function convolve(a, kernel, b)
    for y = 1, a.height - 2 do
        for x = 1, a.width - 2 do
            b:set(x, y,
                kernel:get(2, 2) * a:get(x - 1, y - 1) + kernel:get(1, 2) * a:get(x, y - 1)
                + kernel:get(0, 2) * a:get(x + 1, y - 1) + kernel:get(2, 1) * a:get(x - 1, y)
                + kernel:get(1, 1) * a:get(x, y) + kernel:get(0, 1) * a:get(x + 1, y)
                + kernel:get(2, 0) * a:get(x - 1, y + 1) + kernel:get(1, 0) * a:get(x, y + 1)
                + kernel:get(0, 0) * a:get(x + 1, y + 1))
        end
    end
end

return function(width, height, repeats)
    local next_real = random.reals(60606)
    local a, b, kernel = Array2D.new(width, height), Array2D.new(width, height), Array2D.new(3, 3)
    a:fill(next_real)
    kernel:fill(next_real)
    timer.start()
    for _ = 1, repeats do
        convolve(a, kernel, b)
    end
    timer.stop()
    return b:checksum()
end
