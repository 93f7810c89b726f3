-- A checker of Lua programs, asked of a program with faults.
local check = require("luacheck.init")
local parts = {}
for i = 1, 30 do
  parts[#parts + 1] = ([[
local function f%d(a, b, ...)
  local unused, x = a + 1, { b, n = %d, [%d] = "t\n" }
  for i, v in ipairs(x) do
    if v == nil then undefined_%d = v elseif i > 2 then goto done else x[i] = -v // 2 .. "s" end
  end
  ::done::
  while a do a = a.next; local a = 1 end
  return function(...) return f%d(x, ...) end, select("#", ...)
end
]]):format(i, i, i, i % 3, i)
end
local good, bad = table.concat(parts), table.concat(parts, "", 1, 3) .. "local = 1"
local report = check.check_strings({ good, bad, good })
print(report.warnings, report.errors, report.fatals)
for file, found in ipairs(report) do
  for n = 1, #found, 9 do print(file, found[n].code, found[n].line, found[n].column, found[n].name) end
end
