-- Integer operations over edge values, each in a loop of its own so that each is compiled.
local edge = { 0, 1, -1, 2, -2, 3, -7, 63, 64, -64, 1000003, math.maxinteger, math.mininteger, math.maxinteger - 1,
  math.mininteger + 1 }
local n = #edge
local function table_of(name, f)
  local hash = 0
  for i = 1, n do
    for j = 1, n do
      local r = f(edge[i], edge[j])
      hash = (hash * 31 + r) ~ (hash >> 7)
    end
  end
  print(name, hash)
end
table_of("add", function(a, b) return a + b end)

local function row(a)
  local s1, s2, s3, s4, s5, s6, s7 = 0, 0, 0, 0, 0, 0, 0
  for j = 1, n do
    local b = edge[j]
    s1 = s1 * 3 + (a + b)
    s2 = s2 * 3 + (a - b)
    s3 = s3 * 3 + (a * b)
    s4 = s4 * 3 + (a & b)
    s5 = s5 * 3 + (a | b)
    s6 = s6 * 3 + (a ~ b)
    s7 = s7 * 3 + (~a) + (-b)
  end
  print(a, s1, s2, s3, s4, s5, s6, s7)
end
for i = 1, n do row(edge[i]) end
