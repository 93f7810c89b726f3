-- Recordings that are taken again, since slots change their types: what the first one knew of metatables is forgotten.
local Point = {}
Point.__index = Point
function Point:size()
    return self.x + self.y
end

local a, b = setmetatable({ x = 1, y = 2 }, Point), setmetatable({ x = 3, y = 4 }, Point)
for round = 1, 40 do
    local whole, part, sum = 0, 0.5, 0
    for i = 1, 60 do
        whole, part = part, whole
        sum = sum + a:size() * i + b:size()
    end
    local last
    for i = 1, 60 do
        if i > round then
            last = i & 1 == 0 and 0.5 or last
        end
        sum = sum + b:size() - a:size()
    end
    print(round, whole, part, sum, last)
end
