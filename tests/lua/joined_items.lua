-- What table.concat and '..' join: strings short and long, numbers of all kinds, nothing at all, one item,
-- empty ones beside others, parts of a list, holes, items by metamethods, and what cannot be joined.
local function try(f, ...)
    local ok, text = pcall(f, ...)
    return ok and text or "error: " .. tostring(text):gsub("^.-:%d+: ", "")
end
local long = ("word "):rep(30)
local lists = {
    {}, { "" }, { "", "" }, { "a" }, { "a", "b", "c" }, { 1, 2, 3 }, { 1.5, -0.0, 1e100, 2 ^ 53, 1 / 0, 3.0 }, { "x", 7, long },
    { long, long, 1 }, { "a", nil, "c" }, { "a", {}, "c" }, { "a", true }, { [0] = "z", "a" }, { n = 3, "a", "b" },
    setmetatable({ "a" }, { __index = function(_, i) return i < 5 and "i" .. i or nil end, __len = function() return 4 end }),
    setmetatable({}, { __index = { "p", "q" }, __len = function() return 2 end }), { ("y"):rep(40) }, { ("y"):rep(20), ("z"):rep(20) },
}
local checked = 0
for round = 1, 4 do
    for number, list in ipairs(lists) do
        for _, separator in ipairs { "", ",", ", and ", ("-"):rep(41) } do
            local whole = try(table.concat, list, separator)
            local some = try(table.concat, list, separator, 2)
            local one = try(table.concat, list, separator, 1, 1)
            local none = try(table.concat, list, separator, 3, 2)
            local more = try(table.concat, list, separator, 1, 4)
            local before = try(table.concat, list, separator, 0, 1)
            if round == 4 then print(number, #separator, whole, some, one, none, more, before) end
            checked = checked + #whole + #some + #one + #none + #more + #before
        end
        print(number, try(table.concat, list))
    end
end
print(checked, try(table.concat, { 1, 2 }, 7), try(table.concat, { 1, 2 }, {}), try(table.concat, { 1 }, ",", "x"))
print(try(table.concat, lists[5], ",", math.maxinteger, math.maxinteger), try(table.concat, 5))

-- Items that are added, so that part of them lies outside the array.
local grown = {}
for i = 1, 20 do
    grown[i] = i % 3 == 0 and i or "s" .. i
    if i % 5 == 0 then print(table.concat(grown, " ")) end
end
grown[30] = "far"
print(try(table.concat, grown, " ", 1, 30))

-- By the operator: up to ten parts, some of them empty, some with a metamethod.
local m = setmetatable({}, { __concat = function(a, b)
    return (type(a) == "table" and "<" or a) .. (type(b) == "table" and ">" or b)
end })
local a, b, c, e, n, f = "a", "bb", long, "", 12, 0.5
local sum = 0
for i = 1, 60 do
    local parts = {
        a .. b, a .. e, e .. a, e .. e, c .. e, e .. c, a .. n, n .. a, n .. n, f .. a, a .. f, n .. e, e .. f, a .. b .. c,
        a .. i .. b .. n .. e .. f .. a .. i, a .. b .. a .. b .. a .. b .. a .. b .. a .. b, m .. a, a .. m, a .. n .. m, m .. n .. f,
        i .. "/" .. i * 2, -i .. "", i / 4 .. ";", 1e15 .. e, (a .. e) .. (e .. b),
    }
    local text = table.concat(parts, "|")
    sum = sum + #text
    if i > 58 then print(text) end
end
print(sum, try(function() return a .. nil end), try(function() return a .. b .. {} .. n end))
