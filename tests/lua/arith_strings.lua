-- Arithmetic on strings goes through the string metamethods, in the interpreter.
local s = 0
for i = 1, 20 do s = s + "2" * i end
print(s)
local x = "10"
for i = 1, 10 do x = x + 1 end
print(x, math.type(x))
for i = 1, 6 do print(pcall(function() return i < 4 and i + 1 or i + "z" end)) end
local m = setmetatable({}, { __add = function(a, b) return 5 end, __unm = function() return 6 end, __idiv = function() return 7 end })
local y = 0
for i = 1, 20 do
  local o = i % 2 == 0 and m or i
  y = y + (o + 1) + (i > 15 and -m or 0) + (i > 10 and m // 2 or 1)
end
print(y)
