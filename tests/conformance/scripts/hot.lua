-- Loops that get code: numbers, tables, strings, closures, coroutines.
local n = tonumber((...)) or 3000
local sum, list, text = 0, {}, {}
for i = 1, n do
  sum = sum + i % 7
  list[#list + 1] = { value = i, half = i / 2 }
end
for i, entry in ipairs(list) do
  if entry.value % 500 == 0 then text[#text + 1] = string.format("%d:%.1f", i, entry.half) end
end
local function counter()
  local c = 0
  return function() c = c + 1 return c end
end
local next_one = counter()
local produce = coroutine.wrap(function() for i = 1, n do coroutine.yield(i * i) end end)
local total = 0
for _ = 1, n do total = total + produce() % 3 + next_one() end
print(sum, #list, table.concat(text, " "), total)
