-- Penlight's lexer: patterns tried one after the other, in coroutines.
local lexer = require("pl.lexer")
local parts, counts, names = {}, {}, {}
for i = 1, 120 do
  parts[i] = ([[
local x%d = { [%d] = 0x1F, "s\n" .. y } -- note
if x >= %d.5e3 and not y then f(...) end
]]):format(i, i, i)
end
for kind, value in lexer.lua(table.concat(parts), {}) do
  local name = kind .. (kind == "iden" and "" or " " .. tostring(value):sub(1, 3))
  if not counts[name] then names[#names + 1] = name end
  counts[name] = (counts[name] or 0) + 1
end
table.sort(names)
for _, name in ipairs(names) do print(name, counts[name]) end
