-- Loops that make strings and objects by functions of the library, and names that only the recorder asks for. Run with
-- memory refused at every point.
local Class = {}
Class.__index = Class
local text = "the quick brown fox jumps over the lazy dog again"

local function strings(n)
  local kept, length, numbers = "", 0, 0
  for i = 1, n do
    kept = text:sub(i % 7 + 1, -i % 5 - 1):upper():reverse()
    length = length + #(text:rep(2)) + #string.char(65 + i % 26, 66)
    numbers = numbers + #tostring(i) + #tostring(i / 8)
  end
  return kept, length, numbers
end

local function objects(n)
  local list, last, kinds = {}, nil, 0
  for i = 1, n do
    last = setmetatable({ x = i }, Class)
    table.insert(list, last)
    if math.type(i) == "integer" and type(last) == "table" and getmetatable(last) == Class then kinds = kinds + 1 end
    if i % 4 == 0 then table.remove(list) end
  end
  return #list, last.x, list[#list].x, kinds
end

print(pcall(strings, 40))
print(pcall(objects, 40))
