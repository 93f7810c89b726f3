-- Values to bytes and back, by a function for each type.
local pack = require("MessagePack")
local list, sum = {}, 0
for i = 1, 500 do
  list[i] = { id = i, name = "item " .. i, list = { 1, -2, 300, 70000, 1.5 }, flag = true }
  list[i].nested = { a = { b = i } }
end
for i = 1, 5 do
  local bytes = pack.pack(list)
  local values = pack.unpack(bytes)
  sum = sum + #bytes + values[i].nested.a.b + #values[400].name
  assert(values[77].list[5] == 1.5 and values[500].flag)
end
print(sum, pcall(pack.unpack, "\xc1"))
