-- Comparisons of pairs, after a run of pairs that compare the other way or the same way: compiled code must not take an
-- integer for the double it rounds to, whichever way the comparison went when it was recorded.
local max, min = math.maxinteger, math.mininteger
local edge = { { max, 2.0 ^ 63 }, { min, -2.0 ^ 63 }, { (1 << 53) + 1, 2.0 ^ 53 }, { 1 << 53, 2.0 ^ 53 + 2 }, { -(1 << 53) - 1, -2.0 ^ 53 },
  { max - 1, 2.0 ^ 63 }, { max, 2.0 ^ 62 }, { 3, 3.5 }, { 3, 3.0 }, { 4, 3.5 }, { 0, -0.0 }, { 7, 0 / 0 }, { 7, 1 / 0 }, { 7, -1 / 0 } }
local function compare(a, b, n)
  local eq, lt, le, gt, ge = 0, 0, 0, 0, 0
  for i = 1, n do
    local x, y = a[i], b[i]
    eq = eq * 2; lt = lt * 2; le = le * 2; gt = gt * 2; ge = ge * 2
    if x == y then eq = eq + 1 end
    if x < y then lt = lt + 1 end
    if x <= y then le = le + 1 end
    if x > y then gt = gt + 1 end
    if x >= y then ge = ge + 1 end
  end
  return eq, lt, le, gt, ge
end
local function fresh(x, y)  -- a function of its own, with its own traces
  local f = load(string.dump(compare))
  local a, b = {}, {}
  for i = 1, 6 do a[i], b[i] = x, y end
  for i = 1, #edge do a[6 + i], b[6 + i] = edge[i][1], edge[i][2] end
  print(x, y, f(a, b, 6 + #edge))
  print(y, x, f(b, a, 6 + #edge))
end
fresh(1, 1.0) fresh(1, 2.0) fresh(2, 1.0) fresh((1 << 53) + 1, 2.0 ^ 53) fresh(max, 2.0 ^ 62) fresh(1, 0 / 0)
fresh(max, 2.0 ^ 63) fresh(max - 5, 2.0 ^ 63) fresh((1 << 53) + 3, 2.0 ^ 53 + 4) fresh(min, -2.0 ^ 63)
