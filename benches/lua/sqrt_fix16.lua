-- sqrt(Fix16): Newton's iteration on a class of numbers with 16 bits behind the point.
local sqrt = require("sqrt")
local timer = require("timer")

local Fix16 = {}
Fix16.__index = Fix16

local function from_bits(bits)
    return setmetatable({ bits = bits }, Fix16)
end

local function from_number(number)
    return from_bits(number << 16)
end

-- Operands may be plain integers.
local function fix16(value)
    if getmetatable(value) == Fix16 then
        return value
    end
    return from_number(value)
end

function Fix16.__add(a, b)
    return from_bits(fix16(a).bits + fix16(b).bits)
end

function Fix16.__div(a, b)
    return from_bits((fix16(a).bits << 16) // fix16(b).bits)
end

return function(iterations)
    timer.start()
    local root = sqrt(from_number(123), iterations)
    timer.stop()
    return root.bits / 65536
end
