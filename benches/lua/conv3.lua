-- conv3(n, repeats): convolution of a vector with a kernel of three numbers.
local random = require("random")
local timer = require("timer")

local function convolve(a, kernel, b, n)
    for i = 1, n - 2 do
        b[i] = kernel[3] * a[i] + kernel[2] * a[i + 1] + kernel[1] * a[i + 2]
    end
end

return function(n, repeats)
    local next_real = random.reals(50505)
    local a, b, kernel = {}, {}, { -1.0, 0.25, 1.0 }
    for i = 1, n do
        a[i] = next_real()
        b[i] = 0.0
    end
    timer.start()
    for _ = 1, repeats do
        convolve(a, kernel, b, n)
    end
    timer.stop()
    local sum = 0.0
    for i = 1, n do
        sum = sum + b[i] * (i % 3 + 1)
    end
    return sum
end
