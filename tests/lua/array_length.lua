-- The length operator on tables that change, with holes at the end, and on strings.
local a = {}
local seen = 0
for i = 1, 40 do a[i] = i; seen = seen + #a end
print(seen, #a)
for i = 40, 20, -1 do a[i] = nil; seen = seen + #a end
print(seen, #a)
for i = 1, 10 do a[#a + 1] = i; a[#a] = nil end
print(#a)
local n = 0
while #a > 0 do a[#a] = nil; n = n + 1 end
print(n)
local text, long = "hello", ("x"):rep(200)
local total = 0
for i = 1, 20 do total = total + #text + #long + #"" end
print(total)
local t = setmetatable({ 1, 2, 3 }, { __len = function() return 42 end })
total = 0
for i = 1, 10 do total = total + #t end
print(total)
print(pcall(function() for i = 1, 5 do total = total + #i end end))
