-- Truth values: and, or, not, and values made by comparisons.
local function run(list, n)
  local a, b, c, d = 0, 0, 0, 0
  for i = 1, n do
    local x = list[i]
    local y = x and 1 or 2
    local z = not x
    local w = x == nil or x == 3
    a = a + y
    if z then b = b + 1 end
    if w then c = c + 1 end
    local v = x or "none"
    if v == "none" then d = d + 1 end
  end
  print(a, b, c, d)
end
run({ 1, 2, 3, 4, 5, 6, 7, 8, 9 }, 9)
run({ 1, 2, 3, nil, 5, false, 7, true, 9 }, 9)
run({ true, true, false, true, 3, "s", 0, 0.0, nil }, 9)
local flips, on = 0, false
for i = 1, 30 do on = not on; if on then flips = flips + 1 end end
print(flips, on)
local last
for i = 1, 10 do last = i > 5 and i % 2 == 0 end
print(last)
for i = 1, 10 do local r = i < 3; if r then flips = flips + 1 end end
print(flips)
