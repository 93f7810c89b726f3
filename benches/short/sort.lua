-- Sorts records by two keys and sums them up by group.
local records, seed = {}, 42
for i = 1, 12000 do
    seed = seed * 16807 % 2147483647
    records[i] = { group = "g" .. seed % 20, score = seed % 1000, id = i }
end
table.sort(records, function(a, b)
    if a.group ~= b.group then
        return a.group < b.group
    elseif a.score ~= b.score then
        return a.score > b.score
    end
    return a.id < b.id
end)
local group, total
for _, record in ipairs(records) do
    if record.group ~= group then
        if group then
            print(group, total)
        end
        group, total = record.group, 0
    end
    total = total + record.score
end
print(group, total)
