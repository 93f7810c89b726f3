-- Tables are freed with the parts in their block, whichever of them have moved out of it: what the collector
-- counts comes back to where it was.
local function make(i)
    local record = { x = i, y = i }
    if i % 2 == 0 then
        for k = 1, i % 7 do record[k] = k end
    end
    if i % 3 == 0 then
        record.z, record.w, record.v = 1, 2, 3
    end
    local list = { i, i + 1, i + 2 }
    if i % 5 == 0 then
        for k = 4, 20 do list[k] = k end
    end
    if i % 11 == 0 then list.n = #list end
    local both = { i, i, x = i, y = list }
    if i % 4 == 0 then both.z, both[3] = i, i end
    return { record, list, both }
end

local function round(kept)
    local sum = 0
    for i = 1, 150 do
        local made = make(i)
        kept[i % 20 + 1] = made
        sum = sum + made[1].x + #made[2] + made[3].y[2]
    end
    return sum
end

local function count()
    collectgarbage()
    collectgarbage()
    return collectgarbage("count")
end

local kept, sum = {}, 0
for _ = 1, 3 do sum = sum + round(kept) end
local before = count()
for _ = 1, 15 do sum = sum + round(kept) end
print(sum, count() - before < 40)
kept = {}
print(count() <= before)
