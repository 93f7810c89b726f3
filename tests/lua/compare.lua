-- Order and equality of integers and floats at the edges where doubles round.
local big = 2 ^ 53
local ints = { 0, 1, -1, 2 ^ 53 | 0, (2 ^ 53 | 0) + 1, math.maxinteger, math.mininteger, math.maxinteger - 1, 7 }
local floats = { 0.0, -0.0, 1.0, -1.5, big, big + 2, 2.0 ^ 63, -2.0 ^ 63, 1 / 0, -1 / 0, 0 / 0, 7.0, 7.5 }
local function row(x, list)
  local lt, le, gt, ge, eq = 0, 0, 0, 0, 0
  for j = 1, #list do
    local y = list[j]
    lt = lt * 2; le = le * 2; gt = gt * 2; ge = ge * 2; eq = eq * 2
    if x < y then lt = lt + 1 end
    if x <= y then le = le + 1 end
    if x > y then gt = gt + 1 end
    if x >= y then ge = ge + 1 end
    if x == y then eq = eq + 1 end
  end
  print(x, lt, le, gt, ge, eq)
end
for _, x in ipairs(ints) do row(x, floats) row(x, ints) end
for _, x in ipairs(floats) do row(x, ints) row(x, floats) end
