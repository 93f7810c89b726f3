-- A call of another function where the code is left: its arguments lie in their registers, and the trace has not written them.
-- The table of each round is not made before the code is left, so that the interpreter's frame is all that is known.
local function rows(n, f)
    local all = {}
    for i = 1, n do
        local row = {}
        for j = 1, 4 do
            row[j] = f(i, j, row)
        end
        all[i] = table.concat(row, " ")
    end
    return table.concat(all, "|")
end

local functions = {
    function(i, j) return i + j end,
    function(i, j) return i / j end,
    function(i, j, row) return #row + i * j end,
    function(i, ...) return i .. "," .. select("#", ...) end,
    function(i, j) return (i + j) % 2 == 0 and i or j + 0.5 end,
}
for round = 1, 12 do
    print(rows(8, functions[round % #functions + 1]))
end

-- Functions that take turns.
local sum = 0
for i = 1, 200 do
    local pair = { i, i + 1 }
    local f = i % 3 == 0 and functions[1] or functions[2]
    sum = sum + f(pair[1], pair[2])
end
print(sum)
