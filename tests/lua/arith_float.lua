-- Float operations over edge values, infinities, zeros of both signs and NaN.
local inf, nan = 1 / 0, 0 / 0
local edge = { 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.75, 1e308, -1e308, 1e-320, inf, -inf, 2.0 ^ 53, 2.0 ^ 63, -2.0 ^ 63 }
local n = #edge
local function show(x) return string.format("%a", x) end
local out = {}
local function row(a)
  for j = 1, n do
    local b = edge[j]
    out[1] = a + b
    out[2] = a - b
    out[3] = a * b
    out[4] = a / b
    out[5] = -a
  end
  print(show(a), show(out[1]), show(out[2]), show(out[3]), show(out[4]), show(out[5]))
end
for i = 1, n do row(edge[i]) end

local function accumulate(op)
  local signs, nans, total = 0, 0, 0.0
  for i = 1, n do
    local r = op[i]
    if r ~= r then nans = nans + 1 elseif r < 0 then signs = signs + 1 else total = total + r / 4 end
  end
  return signs, nans, total
end
print(accumulate(edge))
edge[3] = nan
print(accumulate(edge))
