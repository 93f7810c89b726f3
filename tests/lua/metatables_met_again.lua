-- Objects whose metatables are the same for a while, and then are not: a trace that takes them for one must see it.
local function class(name)
    local methods = {}
    methods.__index = methods
    function methods:value() return self.v .. name end
    methods.__add = function(a, b) return name .. a.v + b.v end
    methods.__eq = function(a, b) return a.v == b.v end
    methods.__lt = function(a, b) return name < "b" and a.v < b.v end
    return methods
end

local A, B = class("a"), class("b")

local function objects(n, at, other)
    local list = {}
    for i = 1, n do
        list[i] = setmetatable({ v = i }, i % at == 0 and other or A)
    end
    return list
end

-- Both of a pair, one of a pair, and both ways round.
for _, at in ipairs { 1000, 70, 3, 2, 1 } do
    local list, text, less = objects(200, at, B), {}, 0
    for i = 2, #list do
        local x, y = list[i - 1], list[i]
        text[#text + 1] = x + y
        text[#text + 1] = y + x
        text[#text + 1] = x:value() .. y:value()
        if x < y then less = less + 1 end
        if getmetatable(x) == getmetatable(y) then less = less + 1000 end
    end
    print(at, less, #table.concat(text), table.concat(text, " ", 1, 9), table.concat(text, " ", #text - 9))
end

-- The metatable of an object changes, and goes, while the loop runs.
local x, y = setmetatable({ v = 1 }, A), setmetatable({ v = 2 }, A)
local seen = {}
for i = 1, 300 do
    if i == 100 then setmetatable(y, B) end
    if i == 150 then setmetatable(x, B) end
    if i == 200 then setmetatable(y, { __index = A, __add = function() return "c" end }) end
    if i == 250 then setmetatable(x, nil) end
    local sum = x + y
    seen[sum] = (seen[sum] or 0) + 1
    if i < 250 then
        local both = x:value() .. y:value()
        seen[both] = (seen[both] or 0) + 1
    end
end
local names = {}
for name, count in pairs(seen) do names[#names + 1] = name .. "=" .. count end
table.sort(names)
print(table.concat(names, " "))

-- A metatable and its closures are made anew in each iteration: only within one are they the same.
local total = 0
for i = 1, 200 do
    local step = i % 7
    local M = { __index = function(_, k) return k + step end }
    local p, q = setmetatable({}, M), setmetatable({}, i % 5 == 0 and { __index = function() return 0 end } or M)
    total = total + p[i] * 3 + q[i]
end
print(total)

-- Proxies of proxies: the chain has one metatable at each of its links, and one link has another at times.
local base = { v = 1 }
local link = {}
link.__index = function(t, k) return rawget(t, "next")[k] end
local sum = 0
for i = 1, 200 do
    local inner = setmetatable({ next = base }, link)
    local outer = setmetatable({ next = inner }, i % 11 == 0 and { __index = base } or link)
    sum = sum + outer.v + (outer.w or i)
end
print(sum)
