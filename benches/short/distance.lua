-- The edit distance of all pairs of some words.
local function distance(a, b)
    local before = {}
    for j = 0, #b do
        before[j] = j
    end
    for i = 1, #a do
        local row = { [0] = i }
        for j = 1, #b do
            local cost = a:byte(i) == b:byte(j) and 0 or 1
            row[j] = math.min(before[j] + 1, row[j - 1] + 1, before[j - 1] + cost)
        end
        before = row
    end
    return before[#b]
end

local words, seed = {}, 5
for i = 1, 60 do
    local letters = {}
    for j = 1, 6 + i % 5 do
        seed = seed * 16807 % 2147483647
        letters[j] = string.char(97 + seed % 6)
    end
    words[i] = table.concat(letters)
end
local total, nearest = 0, 100
for i = 1, #words do
    for j = i + 1, #words do
        local d = distance(words[i], words[j])
        total = total + d
        nearest = math.min(nearest, d)
    end
end
print(total, nearest)
