-- Nested tables: product of matrices.
local function make(n, f)
  local m = {}
  for i = 1, n do
    local row = {}
    for j = 1, n do row[j] = f(i, j) end
    m[i] = row
  end
  return m
end
local n = 220
local a, b = make(n, function(i, j) return i + j end), make(n, function(i, j) return (i - j) / 3 end)
local trace = 0.0
for i = 1, n do
  for j = 1, n do
    local sum = 0.0
    for k = 1, n do sum = sum + a[i][k] * b[k][j] end
    if i == j then trace = trace + sum end
  end
end
print(string.format("%.6f", trace))
