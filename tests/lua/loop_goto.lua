-- Loops and continues made with goto.
local s = 0
for i = 1, 40 do
  if i % 3 == 0 then goto continue end
  s = s + i
  if i % 5 == 0 then goto continue end
  s = s * 2 % 1009
  ::continue::
end
print(s)
local i = 0
::top::
i = i + 1
if i < 30 then goto top end
print(i)
local n, m = 0, 0
::outer::
n = n + 1
m = 0
::inner::
m = m + 1
if m < 5 then goto inner end
if n < 10 then goto outer end
print(n, m)
