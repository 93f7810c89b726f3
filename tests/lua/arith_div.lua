-- Integer floor division and remainder by all edge values; zero is an error.
local edge = { 1, -1, 2, -2, 3, -7, 64, 1000003, math.maxinteger, math.mininteger, math.maxinteger - 1, math.mininteger + 1 }
local n = #edge
local function row(a)
  local q, r = 0, 0
  for j = 1, n do
    local b = edge[j]
    q = q * 5 + a // b
    r = r * 5 + a % b
  end
  print(a, q, r)
end
for i = 1, n do row(edge[i]) end
row(0)
edge[7] = 0
print(pcall(row, 5))
edge[7] = 0.0
print(pcall(row, 5))
local function constant(a, m)
  local q, r = 0, 0
  for i = a, a + m do q = q + i // 7 + i // -7; r = r + i % 7 + i % -7 end
  return q, r
end
print(constant(-30, 60))
print(constant(math.maxinteger - 20, 20))
print(constant(math.mininteger, 20))
print(pcall(function() local s = 0; for i = 3, -3, -1 do s = s + 1 // i end end))
print(pcall(function() local s = 0; for i = 3, -3, -1 do s = s + 1 % i end end))
