-- Stores whose key is in the hash part, or is not: integers far apart, strings, long strings, tables.
-- The same loop meets both, and entries that were emptied before, and metatables that come later.
local function sum(t)
    local n, s = 0, 0
    for _, v in pairs(t) do
        n, s = n + 1, s + v
    end
    return n .. ":" .. s
end

local objects, words, texts = {}, {}, {}
for i = 1, 40 do
    objects[i] = { name = i }
    words[i] = "word" .. i
    texts[i] = ("a text of some length "):rep(3) .. i
end

local function fill(t, keys, rounds)
    for round = 1, rounds do
        for i = 1, #keys, round % 3 + 1 do
            t[keys[i]] = round * 100 + i
        end
    end
    return sum(t)
end

for _, keys in ipairs { objects, words, texts } do
    for _ = 1, 4 do
        print(fill({}, keys, 7), fill({ a = 1, b = 2 }, keys, 30))
    end
end

local function far(t, step, count)
    for round = 1, 3 do
        for i = step, step * count, step * round do
            t[i] = round + i
        end
    end
    return sum(t)
end

for _, step in ipairs { 7, -13, 1 << 40, 3 } do
    print(far({}, step, 60), far({ 1, 2, 3 }, step, 33))
end

-- Emptied and put in anew, with and without a metamethod that must see it.
local asked = 0
local watched = { __newindex = function(t, k, v)
    asked = asked + 1
    rawset(t, k, v + 1000)
end }
local function renew(t, keys)
    for round = 1, 20 do
        for i = 1, #keys do
            t[keys[i]] = i
        end
        for i = 1, #keys, 3 do
            t[keys[i]] = nil
        end
        if round == 15 then
            setmetatable(t, watched)
        end
    end
    return sum(t)
end
local apart = {}
for i = 1, 25 do
    apart[i] = i * 1000
end
for _, keys in ipairs { objects, words, texts, apart } do
    print(renew({}, keys), asked)
end

-- A field that a metatable lacks when it is looked for, and gets by a store with a variable key.
local meta, names = {}, { "__len", "__index", "__name" }
local t = setmetatable({}, meta)
for i = 1, 60 do
    local before = #t
    meta[names[i % 3 + 1]] = i % 2 == 0 and function() return i end or nil
    io.write(before, " ", #t, i % 20 == 0 and "\n" or ", ")
end
