-- The caller's variables are of other types at another return: what is read below must be tested there.
local function probe(n)
  for i = 1, 10 do
    if i > n then return i end
  end
  return 0
end
local function use(a, b, n)
  local before = a
  local found = probe(n)
  local c = a
  if type(a) == "number" then c = a + found end
  local again = probe(n + 1)
  return c, b, before, found + again
end
local values = { 1, 2.5, "s", true, nil, { 1 } }
local out = {}
for round = 1, 120 do
  local a = values[round % 6 + 1]
  local c, b, before, sum = use(a, round % 2 == 0 and round or round + 0.5, round % 9)
  out[#out + 1] = tostring(type(c) == "table" and #c or c) .. "," .. b .. "," .. type(before) .. "," .. sum
end
print(table.concat(out, " "))
