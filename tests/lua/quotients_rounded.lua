-- Quotients of integers, rounded to integers: of small ones, large ones and negative ones, by constants that
-- are integers and others. What lies between is wanted, too, by an error, or not at all.
local floor, ceil = math.floor, math.ceil

local integers = {
    0, 1, 2, 3, 9, 10, 11, 99, 100, 4503599627370494, 4503599627370495, 4503599627370496, 4503599627370497,
    9007199254740991, 9007199254740992, 9007199254740993, math.maxinteger, math.mininteger, -1, -2, -3, -10, -11,
    1 << 62, (1 << 62) + 1,
}

local ways = {
    { "floor 2", function(i) return floor(i / 2) end },
    { "floor 3", function(i) return floor(i / 3) end },
    { "floor 7.0", function(i) return floor(i / 7.0) end },
    { "floor 10", function(i) return floor(i / 10) end },
    { "ceil 2", function(i) return ceil(i / 2) end },
    { "ceil 10", function(i) return ceil(i / 10) end },
    { "floor 1", function(i) return floor(i / 1) end },
    { "ceil 2^52", function(i) return ceil(i / 4503599627370496) end },
    { "floor 2^52 - 1", function(i) return floor(i / 4503599627370495) end },
    { "floor * .25", function(i) return floor(i * 0.25) end },
    { "ceil * .1", function(i) return ceil(i * 0.1) end },
    { "floor -2", function(i) return floor(i / -2) end },
    { "floor 2.5", function(i) return floor(i / 2.5) end },
    { "wanted", function(i) local half = i / 2 return floor(half) + (half % 1 == 0.5 and 1 or 0) end },
}

for _, way in ipairs(ways) do
    local name, f = way[1], way[2]
    local mixed, small = 0, 0
    for round = 1, 30 do
        for at = 1, #integers do
            mixed = (mixed * 31 + (math.tointeger(f(integers[at])) or 7)) & 0xffffffff
        end
    end
    -- One kind only, and then the others once.
    for i = 0, 300 do
        small = small + f(i)
    end
    local each = {}
    for at = 1, #integers do
        each[at] = tostring(f(integers[at]))
    end
    print(name, mixed, small, table.concat(each, " "))
end

local function search(t, wanted)
    local low, high = 1, #t
    while low < high do
        local middle = floor((low + high) / 2)
        if t[middle] < wanted then
            low = middle + 1
        else
            high = middle
        end
    end
    return low
end

local sorted, found = {}, 0
for i = 1, 100 do
    sorted[i] = i * 3
end
for i = 1, 300 do
    found = found + search(sorted, i)
end
print("found", found)

-- The quotient is what the message tells.
local limit = 200
local function checked(i)
    local half = i / 2
    if floor(half) == limit then
        error("half is " .. half)
    end
    return half
end
print(pcall(function()
    local sum = 0.0
    for i = 1, 1000 do
        sum = sum + checked(i)
    end
    return sum
end))
