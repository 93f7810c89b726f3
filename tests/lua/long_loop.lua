-- A long loop that goes on for so many iterations that it gets a preamble late, and is left now and then.
local Grid = {}
Grid.__index = Grid

function Grid:get(i)
    if i < 1 or i > self.size then
        error("beyond")
    end
    return self.items[i]
end

function Grid:set(i, value)
    if i < 1 or i > self.size then
        error("beyond")
    end
    self.items[i] = value
end

local function new(size, value)
    local items = {}
    for i = 1, size do
        items[i] = value * i
    end
    return setmetatable({ size = size, items = items }, Grid)
end

local a, b, weights = new(3002, 0.5), new(3002, 0), new(11, 0.25)

local function smooth()
    for i = 6, a.size - 5 do
        b:set(i, weights:get(1) * a:get(i - 5) + weights:get(2) * a:get(i - 4)
            + weights:get(3) * a:get(i - 3) + weights:get(4) * a:get(i - 2)
            + weights:get(5) * a:get(i - 1) + weights:get(6) * a:get(i)
            + weights:get(7) * a:get(i + 1) + weights:get(8) * a:get(i + 2)
            + weights:get(9) * a:get(i + 3) + weights:get(10) * a:get(i + 4)
            + weights:get(11) * a:get(i + 5))
    end
end

local seen = {}
for round = 2, 111 do
    smooth()
    if round % 40 == 0 then
        a.items[round] = round // 1 -- an integer among floats
    end
    if round == 100 then
        weights.items[2] = 3 -- what was believed to be steady
    end
    seen[#seen + 1] = string.format("%.6g", b:get(round + 1))
end
print(table.concat(seen, " ", 95))
local sum = 0
for i = 2, a.size - 1 do
    sum = sum + b:get(i)
end
print(string.format("%.10g", sum))
print(pcall(b.get, b, 3003))
