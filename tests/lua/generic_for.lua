-- Generic loops around numeric ones: the inner loop is the one that is compiled.
local t = { 10, 20, 30, a = 1, b = 2 }
local s = 0
for i, v in ipairs(t) do for k = 1, 10 do s = s + i * v + k end end
print(s)
local n = 0
for k, v in pairs(t) do for j = 1, 5 do n = n + v end end
print(n)
local function range(m) local i = 0; return function() i = i + 1; if i <= m then return i end end end
local u = 0
for i in range(20) do u = u + i end
for w in ("one two three"):gmatch("%a+") do for j = 1, 6 do u = u + #w end end
print(u)
