-- Penlight writes tables as Lua and reads them.
local pretty, tablex = require("pl.pretty"), require("pl.tablex")
local all, size = {}, 0
for i = 1, 120 do all[i] = { id = i, name = "n" .. i, list = { i, i * 2, i * 3 }, ["end"] = i % 3 == 0 } end
for i = 1, 4 do
  local text = pretty.write(all)
  assert(tablex.deepcompare(pretty.read(text), all))
  size = size + #text
  all[i].list = nil
end
print(size, pretty.write({ 1, "two", { three = 3 } }, ""))
