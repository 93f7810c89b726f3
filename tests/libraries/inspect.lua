-- Values as text: nested tables, tables that hold themselves, metatables.
local inspect = require("inspect")
local all, size = {}, 0
for i = 1, 150 do
  all[i] = { id = i, ["key " .. i] = "v\t" .. i, list = { i, i + 1, { deep = { i } } } }
  if i % 7 == 0 then all[i].back = all end
  if i % 5 == 0 then setmetatable(all[i], { __index = all, __name = "five" }) end
end
for depth = 1, 6 do size = size + #inspect(all, { depth = depth }) end
print(size, inspect({ 1, 2, { a = true, b = "x" }, [7.5] = { {} } }))
