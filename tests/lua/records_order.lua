-- 'pairs' sees the keys of a record in the order that the interpreter would have made, collisions and all. The order differs
-- from run to run, so that records from a loop are compared with one made outside any.
local function order(t)
  local names = {}
  for k, v in pairs(t) do names[#names + 1] = k end
  return table.concat(names, " ")
end
local function make(i)
  return { alpha = i, beta = i, gamma = i, delta = i, epsilon = i, zeta = i, eta = i }
end
local function fill(i)
  local t = { a = 1, b = 2, c = 3 }
  t.a = nil
  t.d = i
  t.e = nil
  t.a = i
  return t
end
local made, filled = order(make(0)), order(fill(0))
local records, changed = {}, {}
for i = 1, 30 do records[i], changed[i] = false, false end
for i = 1, 30 do
  records[i] = { alpha = i, beta = i, gamma = i, delta = i, epsilon = i, zeta = i, eta = i }
end
for i = 1, 30 do
  local t = { a = 1, b = 2, c = 3 }
  t.a = nil
  t.d = i
  t.e = nil
  t.a = i
  changed[i] = t
end
local differ = 0
for i = 1, 30 do
  if order(records[i]) ~= made then differ = differ + 1 end
  if order(changed[i]) ~= filled then differ = differ + 1 end
end
print(differ, #records, #changed, records[30].eta, changed[30].a, changed[30].d, changed[30].e)
-- a key too many: the table grows in the interpreter
local sum = 0
for i = 1, 30 do
  local t = { a = i, b = i }
  t.c = i
  t.d = i
  t.e = i
  sum = sum + t.a + t.b + t.c + t.d + t.e
end
print(sum)
