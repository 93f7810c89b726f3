-- Variable arguments with a name: hidden ones, which are read where they lie, and those that need a table.
local function hidden(...t)
  local sum = 0
  for i = 1, t.n do sum = sum + t[i] end
  return sum, t.n, t[0], t[t.n + 1], t.x
end
local function given(...t)
  local sum = 0
  for _, v in ipairs(t) do sum = sum + v end
  t[#t + 1] = sum
  return t
end
local function changed(a, ...t)
  t[1] = a
  t.n = 2
  return ...
end
local function count(...) return select('#', ...), ... end
for round = 1, 200 do
  local a, n, before, after, x = hidden(round, 2, 3)
  local t = given(1, 2, round)
  local c, d = changed(round, 'b', 'c')
  local many, first = count(round, nil, nil)
  if round % 50 == 0 then
    print(a, n, before, after, x, #t, t[4], t.n, c, d, many, first)
  end
end
local function inner(...t) return t.n + #t end
local sum = 0
for i = 1, 500 do sum = sum + inner(i, i) + select('#', table.unpack({}, 1, i % 5)) end
print(sum)
print(pcall(function(...t) t.n = -1 return ... end, 1))
-- As arguments of arguments, with too few of them and with none.
local function relay(f, ...) return f(...) end
for i = 1, 300 do
  local a, b, c = relay(function(x, y, ...) return y, ..., x end, i, i + 1, i + 2)
  local n = relay(hidden)
  if i % 100 == 0 then print(a, b, c, n) end
end
