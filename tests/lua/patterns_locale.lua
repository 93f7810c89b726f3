-- Locales that change within a search: by replacements, by a finalizer, and between the steps of a loop.
local s = ("ab1 "):rep(2000)
print(#(s:gsub("%a+", function(w) os.setlocale("C.utf8") os.setlocale("C") return w .. w end)))
print(#(s:gsub("%a+", function(w) os.setlocale("C.utf8") return w .. w end)))
print(#(s:gsub("%a+", "%0%0")), select(2, s:gsub("()%d", "%1")))
setmetatable({}, { __gc = function() os.setlocale("C") end })
print(#(s:gsub("%a+", "%0%0%0%0%0%0")))
for w in ("x y z"):gmatch("%a") do os.setlocale(w == "y" and "C" or "C.utf8") io.write(w, " ") end
print()
