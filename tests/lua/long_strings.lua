-- Long strings are equal by content, short ones by address; both as loop conditions.
local a, b = ("abc"):rep(30), ("abc"):rep(30)
local c = ("abd"):rep(30)
local same, different = 0, 0
for i = 1, 20 do
  local x = i % 3 == 0 and c or b
  if a == x then same = same + 1 else different = different + 1 end
end
print(same, different)
local s = "x"
local n = 0
while s ~= "xxxxxxxxxx" do s = s .. "x"; n = n + 1 end
print(n)
local words, hits = { "alpha", "beta", "gamma", "beta" }, 0
for i = 1, 4 do for j = 1, 4 do if words[i] == words[j] then hits = hits + 1 end end end
print(hits)
local lengths = 0
for i = 1, 16 do local w = i % 4 == 0 and a or "beta"; lengths = lengths + #w end
print(lengths)
