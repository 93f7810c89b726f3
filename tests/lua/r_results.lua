-- A loop's function returns none, one, many or all of its values to callers that want other numbers of them.
local function scan(n, how)
  local i = 0
  while true do
    i = i + 1
    if i >= n then
      if how == 0 then return end
      if how == 1 then return i end
      if how == 2 then return i, i + 0.5, "x" .. i end
      return i, nil, true, i
    end
  end
end
local function show(...) return select("#", ...), ... end
for how = 0, 3 do
  for n = 1, 40 do
    local a, b, c = scan(n % 7 + 1, how)
    local one = (scan(n % 5 + 2, how))
    scan(n % 3 + 1, how)
    local list = { scan(n % 4 + 1, how) }
    if n % 8 == 0 then print(how, n, a, b, c, one, #list, show(scan(n % 6 + 1, how))) end
  end
end
-- Results that are arguments, parts of an expression, and a condition.
local sum = 0
for n = 1, 60 do
  sum = sum + scan(n % 5 + 1, 1) * (scan(n % 3 + 1, 1) + select("#", scan(n % 4 + 1, 3)))
  if scan(n % 9 + 1, 1) > 5 then sum = sum - 1 end
end
print(sum)
