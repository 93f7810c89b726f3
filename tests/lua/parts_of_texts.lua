-- Parts of strings, of which the short ones are found among the words that were made before: of each length,
-- from the first character on and up to the last one, of short strings and of long ones; words that differ
-- in one character, or in the length only; and after collections, when nothing is kept any more.
local texts = { "a", "ab", "\0\0\0\0\0\0\0\0\0", ("xyz"):rep(20), ("\255\0"):rep(30), "the quick brown fox" }
for code = 0, 255 do
    texts[#texts + 1] = string.char(code, 255 - code, code // 2, code, 7, code, 0, 0, code)
end

local function check(words, part, name)
    local known = words[part]
    if known == nil then
        words[part] = name
        return name
    end
    return known
end

local sum, made = 0, 0
for round = 1, 6 do
    local words = {}
    for number, text in ipairs(texts) do
        for from = 1, #text, 1 + number % 3 do
            for length = 0, 9 do
                local part = text:sub(from, from + length - 1)
                local name = check(words, part, number * 1000 + from * 10 + length)
                sum = (sum * 31 + name + #part) % 1000003
                -- The same word, made of its characters.
                local copy = string.char(part:byte(1, -1))
                if copy ~= part or words[copy] ~= name then
                    print("another string", number, from, length)
                end
                made = made + 1
            end
        end
        if number % 50 == round then
            collectgarbage(round % 2 == 0 and "step" or "collect")
        end
    end
end
print(sum, made)

-- Zeros count: they are characters as others are.
local zeros = ("\0"):rep(8)
for length = 1, 8 do
    local last
    for _ = 1, 40 do
        last = zeros:sub(1, length)
    end
    print(#last, last == zeros:sub(9 - length), last < zeros:sub(1, length + 1))
end
