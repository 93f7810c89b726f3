-- Counts the words of a text and prints the commonest.
local words = { "the", "trace", "of", "a", "loop", "is", "one", "path", "through", "it", "guards", "watch", "over" }
local text, seed = {}, 7
for i = 1, 60000 do
    seed = seed * 16807 % 2147483647
    text[i] = words[seed % #words + 1] .. (seed % 11 == 0 and ",\n" or " ")
end
local count = {}
for word in table.concat(text):gmatch("%a+") do
    count[word] = (count[word] or 0) + 1
end
local order = {}
for word in pairs(count) do
    order[#order + 1] = word
end
table.sort(order, function(a, b)
    if count[a] ~= count[b] then
        return count[a] > count[b]
    end
    return a < b
end)
for i = 1, 5 do
    print(order[i], count[order[i]])
end
