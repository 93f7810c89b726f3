-- What the JIT keeps is not the program's memory: 'collectgarbage("count")' answers as without it, to a
-- kilobyte.

local function fresh(n)
    return assert(load("local n, t = " .. n .. ", ... " .. [[
        local sum = 0
        for i = 1, n do
            t.x, t.y = i, { i, sum }
            sum = (sum + t.y[1] * 3 + #tostring(i)) % 1009
            if i % 7 == 0 then t.z = function() return sum end end
        end
        t.x, t.y, t.z = nil, nil, nil
        return sum]]))
end

-- Everything that is made once for all is made here.
local t = { x = 1, y = 2, z = 3 }
fresh(500)(t)
for round = 1, 3 do
    local functions = {}
    for i = 1, 4 do functions[i] = fresh(300 * i) end
    collectgarbage()
    collectgarbage()
    local before = collectgarbage("count")
    local sum = 0
    for i = 1, 4 do sum = sum + functions[i](t) end
    collectgarbage()
    collectgarbage()
    local after = collectgarbage("count")
    print(sum, math.abs(after - before) < 1)
end
