-- Comparisons with small constants, for integers and floats on both sides of them.
local function count(first, last, step)
  local a, b, c, d, e, f, g = 0, 0, 0, 0, 0, 0, 0
  for i = first, last, step do
    if i < 5 then a = a + 1 end
    if i <= 5 then b = b + 1 end
    if i > 5 then c = c + 1 end
    if i >= 5 then d = d + 1 end
    if i == 5 then e = e + 1 end
    if i ~= 5 then f = f + 1 end
    if i == 5.5 or i == 1000000 then g = g + 1 end
  end
  print(a, b, c, d, e, f, g)
end
count(-3, 20, 1)
count(20, -3, -1)
count(-3.0, 20.0, 0.5)
count(20.0, -3.0, -0.25)
count(999990, 1000010, 1)
print(pcall(function() local n = 0; for i = 1, 9 do local x = i < 6 and i or {}; if x < 10 then n = n + 1 end end end))
