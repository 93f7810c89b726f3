-- Building, searching and hashing of strings.
local parts, words = {}, 0
for i = 1, 250000 do parts[#parts + 1] = "item " .. i .. (i % 2 == 0 and ";" or ", ") end
local text = table.concat(parts)
for word in text:gmatch("%d+") do words = words + #word end
local hash = 7
for i = 1, #text do hash = (hash * 31 + text:byte(i)) & 0xFFFFFFFF end
print(#text, words, hash, text:sub(-9):upper())
