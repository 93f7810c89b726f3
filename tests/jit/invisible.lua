-- What a program sees before it asks for the library is what stock Lua shows it.
local function names(t)
  local list = {}
  for name in pairs(t) do list[#list + 1] = tostring(name) end
  table.sort(list)
  return table.concat(list, " ")
end
print(names(_G))
print(names(package), names(package.loaded), names(package.preload), #package.searchers)
for i = 1, #package.searchers do
  print(pcall(package.searchers[i], "no such module"))
end
print(pcall(require, "no.such.module"))
-- The program's own module comes first.
package.preload.jit = function(...) return { "own", ... } end
print(table.concat(require "jit", " "))
