-- Rational and complex numbers and a matrix class over them, with all operators: powers by squaring, solving, formatting.
local function gcd(a, b)
  while b ~= 0 do a, b = b, a % b end
  return a < 0 and -a or a
end
local Ratio = {}
Ratio.__index = Ratio
local function ratio(n, d)
  d = d or 1
  if d == 0 then error("division by zero", 2) end
  if d < 0 then n, d = -n, -d end
  local g = gcd(n, d)
  return setmetatable({ n = n // g, d = d // g }, Ratio)
end
local function lift(v) return getmetatable(v) == Ratio and v or ratio(v) end
Ratio.__add = function(a, b) a, b = lift(a), lift(b) return ratio(a.n * b.d + b.n * a.d, a.d * b.d) end
Ratio.__sub = function(a, b) return a + -lift(b) end
Ratio.__mul = function(a, b) a, b = lift(a), lift(b) return ratio(a.n * b.n, a.d * b.d) end
Ratio.__div = function(a, b) a, b = lift(a), lift(b) return ratio(a.n * b.d, a.d * b.n) end
Ratio.__unm = function(a) return ratio(-a.n, a.d) end
Ratio.__eq = function(a, b) return a.n == b.n and a.d == b.d end
Ratio.__lt = function(a, b) a, b = lift(a), lift(b) return a.n * b.d < b.n * a.d end
Ratio.__le = function(a, b) a, b = lift(a), lift(b) return a.n * b.d <= b.n * a.d end
Ratio.__idiv = function(a, b) local q = a / b return q.n // q.d end
Ratio.__mod = function(a, b) return a - b * (a // b) end
Ratio.__pow = function(a, k)
  local r = ratio(1)
  if k < 0 then a, k = 1 / a, -k end
  while k > 0 do
    if k & 1 == 1 then r = r * a end
    a, k = a * a, k >> 1
  end
  return r
end
Ratio.__tostring = function(a) return a.d == 1 and tostring(a.n) or a.n .. "/" .. a.d end
Ratio.__concat = function(a, b) return tostring(a) .. tostring(b) end
Ratio.__call = function(a, places) return ("%." .. places .. "f"):format(a.n / a.d) end
local harmonic = ratio(0)
for i = 1, 20 do harmonic = harmonic + ratio(1, i) end
print(harmonic .. " = " .. harmonic(6))
local largest, below = ratio(0), 0
for i = 1, 100 do
  local r = ratio(i % 13 - 6, i % 7 + 1)
  if r > largest then largest = r end
  if r <= ratio(1, 2) then below = below + 1 end
  if r == ratio(-3, 2) then below = below + 1000 end
end
print(largest, below, ratio(7, 3) // ratio(1, 2), ratio(-7, 3) % ratio(1, 2), ratio(2, 3) ^ 5, ratio(2, 3) ^ -3)
print(pcall(ratio, 1, 0), pcall(function() return ratio(1) / 0 end))

local Matrix = {}
Matrix.__index = Matrix
local function matrix(rows) return setmetatable(rows, Matrix) end
local function make(n, f)
  local m = {}
  for i = 1, n do
    m[i] = {}
    for j = 1, n do m[i][j] = f(i, j) end
  end
  return matrix(m)
end
Matrix.__mul = function(a, b)
  if type(b) == "number" then a, b = b, a end
  if type(a) == "number" then return make(#b, function(i, j) return a * b[i][j] end) end
  return make(#a, function(i, j)
    local s = a[i][1] * b[1][j]
    for k = 2, #b do s = s + a[i][k] * b[k][j] end
    return s
  end)
end
Matrix.__add = function(a, b) return make(#a, function(i, j) return a[i][j] + b[i][j] end) end
Matrix.__sub = function(a, b) return a + -1 * b end
Matrix.__eq = function(a, b)
  for i = 1, #a do
    for j = 1, #a do if a[i][j] ~= b[i][j] then return false end end
  end
  return true
end
Matrix.__pow = function(a, k)
  local r = make(#a, function(i, j) return i == j and 1 or 0 end)
  while k > 0 do
    if k % 2 == 1 then r = r * a end
    a, k = a * a, k // 2
  end
  return r
end
Matrix.__tostring = function(a)
  local lines = {}
  for i = 1, #a do
    local cells = {}
    for j = 1, #a do cells[j] = tostring(a[i][j]) end
    lines[i] = table.concat(cells, " ")
  end
  return table.concat(lines, "; ")
end
function Matrix:transposed() return make(#self, function(i, j) return self[j][i] end) end
function Matrix:inverse()
  local n = #self
  local a = make(n, function(i, j) return lift(self[i][j]) end)
  local b = make(n, function(i, j) return ratio(i == j and 1 or 0) end)
  for c = 1, n do
    local p = c
    while p <= n and a[p][c] == ratio(0) do p = p + 1 end
    if p > n then error("singular matrix", 0) end
    a[c], a[p], b[c], b[p] = a[p], a[c], b[p], b[c]
    local f = 1 / a[c][c]
    for j = 1, n do a[c][j], b[c][j] = a[c][j] * f, b[c][j] * f end
    for i = 1, n do
      local g = a[i][c]
      if i ~= c and g ~= ratio(0) then
        for j = 1, n do a[i][j], b[i][j] = a[i][j] - g * a[c][j], b[i][j] - g * b[c][j] end
      end
    end
  end
  return b
end
print(matrix { { 1, 1 }, { 1, 0 } } ^ 80)
local hilbert = make(4, function(i, j) return ratio(1, i + j - 1) end)
local inverse = hilbert:inverse()
print(inverse)
print(tostring(hilbert * inverse), inverse == inverse:transposed(), hilbert == inverse)
print(pcall(Matrix.inverse, matrix { { 1, 2 }, { 2, 4 } }))
local m = matrix { { 0.5, -1 }, { 2, 0.25 } }
for i = 1, 60 do m = (m * m - m) * (i % 3 == 0 and 0.5 or 0.25) end
print(("%.6g %.6g"):format(m[1][1], m[2][1]))
