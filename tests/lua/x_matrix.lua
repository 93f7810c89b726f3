-- Matrices: products, transposes, determinants, rows shared by accident, integers that turn to floats.
local function matrix(n, f)
  local m = {}
  for i = 1, n do
    local row = {}
    for j = 1, n do row[j] = f(i, j) end
    m[i] = row
  end
  return m
end
local function mul(a, b, n)
  local c = {}
  for i = 1, n do
    local ai, ci = a[i], {}
    for j = 1, n do
      local s = 0
      for k = 1, n do s = s + ai[k] * b[k][j] end
      ci[j] = s
    end
    c[i] = ci
  end
  return c
end
local function text(m) local t = {} for i = 1, #m do t[i] = table.concat(m[i], " ") end return table.concat(t, "|") end
local a = matrix(4, function(i, j) return i + j end)
local b = matrix(4, function(i, j) return i == j and 2 or i - j end)
local p = a
for _ = 1, 5 do p = mul(p, b, 4) end
print(text(p))
local f = matrix(4, function(i, j) return i / j end)
print(text(mul(a, f, 4)))
local mixed = matrix(4, function(i, j) return (i + j) % 2 == 0 and i or j + 0.5 end)
print(text(mul(mixed, mixed, 4)))
for i = 1, 4 do for j = i + 1, 4 do b[i][j], b[j][i] = b[j][i], b[i][j] end end
print(text(b))
local function det(m, n)
  local d = 1.0
  for c = 1, n do
    local pivot = c
    for r = c + 1, n do if math.abs(m[r][c]) > math.abs(m[pivot][c]) then pivot = r end end
    if m[pivot][c] == 0 then return 0 end
    if pivot ~= c then m[pivot], m[c], d = m[c], m[pivot], -d end
    d = d * m[c][c]
    for r = c + 1, n do
      local q = m[r][c] / m[c][c]
      for k = c, n do m[r][k] = m[r][k] - q * m[c][k] end
    end
  end
  return d
end
print(string.format("%.10g", det(matrix(5, function(i, j) return 1 / (i + j - 1) end), 5)), det(matrix(3, function(i, j) return i + j end), 3))
local flat, n = {}, 8
for i = 0, n * n - 1 do flat[i] = i end
local trace = 0
for i = 0, n - 1 do trace = trace + flat[i * n + i] end
print(trace)
local row = { 0, 0, 0 }
local shared = { row, row, { 0, 0, 0 } }
for i = 1, 60 do shared[i % 3 + 1][i % 3 + 1] = shared[(i + 1) % 3 + 1][i % 3 + 1] + i end
print(text(shared))
