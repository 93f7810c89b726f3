-- FFT(n, repeats): a vector of n complex numbers is transformed and transformed back.
--
-- Radix 2, in place, real and imaginary parts side by side in one array. The outer loops go over the spans and the
-- twiddle factors, the inner one over the butterflies of a factor: n/2 of them at first, a single one in the end.
local random = require("random")
local timer = require("timer")

local function reverse_bits(data, n)
    local j = 0
    for i = 0, n - 2 do
        if i < j then
            local a, b = 2 * i + 1, 2 * j + 1
            data[a], data[b] = data[b], data[a]
            data[a + 1], data[b + 1] = data[b + 1], data[a + 1]
        end
        local bit = math.floor(n / 2)
        while bit <= j do
            j = j - bit
            bit = math.floor(bit / 2)
        end
        j = j + bit
    end
end

-- The direction is -1 forward and 1 back; neither scales.
local function transform(data, n, direction)
    reverse_bits(data, n)
    local span = 1
    while span < n do
        local angle = direction * math.pi / span
        local half = math.sin(0.5 * angle)
        local turn_re, turn_im = -2.0 * half * half, math.sin(angle)
        local w_re, w_im = 1.0, 0.0
        for k = 0, span - 1 do
            for i = k, n - 1, 2 * span do
                local a = 2 * i + 1
                local b = a + 2 * span
                local re = w_re * data[b] - w_im * data[b + 1]
                local im = w_re * data[b + 1] + w_im * data[b]
                data[b] = data[a] - re
                data[b + 1] = data[a + 1] - im
                data[a] = data[a] + re
                data[a + 1] = data[a + 1] + im
            end
            local re = w_re + (w_re * turn_re - w_im * turn_im)
            w_im = w_im + (w_im * turn_re + w_re * turn_im)
            w_re = re
        end
        span = 2 * span
    end
end

local function scale(data, factor)
    for i = 1, #data do
        data[i] = data[i] * factor
    end
end

return function(n, repeats)
    local next_real = random.reals(101010)
    local data = {}
    for i = 1, 2 * n do
        data[i] = next_real()
    end
    local spectrum = 0.0
    timer.start()
    for _ = 1, repeats do
        transform(data, n, -1)
        spectrum = spectrum + data[3] - data[2 * n]
        transform(data, n, 1)
        scale(data, 1.0 / n)
    end
    timer.stop()
    local sum = spectrum
    for i = 1, 2 * n do
        sum = sum + data[i] * (i % 5)
    end
    return sum
end
