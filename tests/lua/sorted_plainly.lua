-- table.sort without a function: integers and floats that are equal and yet not the same, zeros of both signs,
-- what is not a number, strings with zeros in them, lists in all kinds of order, lists with holes, with
-- metatables, and with items that have no order.
local function show(list, n)
    local out = {}
    for i = 1, n or #list do
        local v = list[i]
        out[i] = v ~= v and "nan" or v == 0 and ("%g"):format(v) .. math.type(v) or tostring(v)
    end
    return table.concat(out, " ")
end
local state = 7
local function random(n)
    state = (state * 1103515245 + 12345) % 2147483648
    return state // 65536 % n
end

for size = 0, 40 do
    local mixed, floats, words, zeros = {}, {}, {}, {}
    for i = 1, size do
        mixed[i] = random(2) == 0 and random(9) or random(9) + 0.0
        floats[i] = random(8) == 0 and 0 / 0 or random(20) / 4
        words[i] = ("\0a"):rep(random(3)) .. string.char(97 + random(3)) .. (random(2) == 0 and "\0" or "")
        zeros[i] = ({ 0, 0.0, -0.0, 1, -1 })[random(5) + 1]
    end
    table.sort(mixed)
    print(size, pcall(table.sort, floats), show(floats))
    table.sort(words)
    table.sort(zeros)
    print(show(mixed), ("%q"):format(table.concat(words, ",")), show(zeros))
end

-- Larger lists, all items of which are different.
local function sum(list)
    local s = 0
    for i, v in ipairs(list) do s = (s * 31 + v * i) % 1000000007 end
    return s
end
for _, size in ipairs { 99, 100, 101, 102, 500, 3000 } do
    local up, down, pipe, saw = {}, {}, {}, {}
    for i = 1, size do
        up[i], down[i] = i, size - i
        pipe[i] = i < size / 2 and 2 * i or 2 * (size - i) + 1
        saw[i] = i % 7 * size + i
    end
    for _, list in ipairs { up, down, pipe, saw } do
        table.sort(list)
        local in_order = true
        for i = 2, #list do in_order = in_order and list[i - 1] < list[i] end
        print(size, #list, in_order, sum(list))
    end
end

local function try(list, ...)
    local ok, message = pcall(table.sort, list, ...)
    return ok, ok and show(list) or (message:gsub("^.-:%d+: ", ""))
end
print(try { 3, "2", 1 })
print(try { {}, {} })
print(try { "b", "a", {} })
print(try({ 2, 1, n = 5 }, nil))
print(try({ 2, 1 }, 5))
print(try(setmetatable({ 3, 1, 2 }, { __lt = function() return true end })))
local proxy = setmetatable({}, {
    __index = function(_, i) return 10 - i end,
    __newindex = function(t, i, v) rawset(t, i, v) end,
    __len = function() return 4 end,
})
print(try(proxy))
local holes = { 5, 4, 3 }
holes[5] = 1
print(#holes == 3 or #holes == 5, pcall(table.sort, holes) or "an error")
local grown = {}
for i = 30, 1, -1 do grown[i] = 31 - i end
print(try(grown))
