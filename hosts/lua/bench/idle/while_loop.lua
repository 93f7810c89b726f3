-- while, repeat and goto: backward jumps.
local i, odd = 0, 0
while i < 12000000 do
  i = i + 1
  if i & 1 == 1 then odd = odd + 1 end
end
local n = 0
repeat n = n + 3 until n > 24000000
::again:: n = n - 4
if n > 0 then goto again end
print(i, odd, n)
