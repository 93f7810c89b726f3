-- Where generic loops end, and where they begin: the end of one table is the middle of another, also behind a guard within the body;
-- tables with array and hash parts that are empty, or become so on the way; keys that are not there.
local tables = {}
for i = 1, 300 do tables[i] = i <= 250 and { 1, 2, 3, 4, 5, 6, 7 } or { 1, 2, 3, 4, 5, 6, 7, 8 } end
local s, items, x, list = 0, 0, 0, {}
for r = 1, #tables do
  for k, v in pairs(tables[r]) do
    items = items + 1
    if v == 7 then list[1] = v else s = s + v end
  end
  for j = 1, 30 do x = x + j end
end
print(s, items, x)

-- The same with what follows in the hash part, and with holes.
local function pick(n)
  local kind = n % 11
  if kind == 0 then return {} end
  if kind == 1 then return { nil, nil, 3 } end
  if kind == 2 then return { x = 7 } end
  if kind == 3 then return { 1, 2, 7, x = 1 } end
  if kind == 4 then return { [0] = 7 } end
  if kind == 5 then return { [1.5] = 7 } end
  if kind == 6 then return { [true] = 7 } end
  if kind == 7 then return { 1, nil, 7 } end
  return { 1, 2, 7 }
end
local function sum(t)
  local n, keys = 0, 0
  for k, v in pairs(t) do
    if v == 7 then keys = keys + 1 else n = n + v end
  end
  return n, keys
end
local totals, found = 0, 0
for n = 1, 600 do
  local a, b = sum(pick(n < 300 and 8 or n))
  totals, found = totals + a, found + b
end
print(totals, found)
local inner = 0
for n = 1, 600 do
  local t = pick(n < 300 and 8 or n)
  for _, v in pairs(t) do
    if v == 7 then inner = inner + 100 else inner = inner + v end
  end
  for _, v in next, t do inner = inner + v end
end
print(inner)

-- Loops that do not begin at the beginning; some keys are not there, and of the floats some stand for integers.
local fixed = { 10, 20, 30, 40, a = 1 }
local starts, errors, rest = { 1, 2, 3, 2.0, 3.0, "a", "missing", 4, 2.5, false }, 0, 0
for n = 1, 400 do
  local from = starts[n < 200 and 1 + n % 3 or 1 + n % #starts]
  local ok = pcall(function()
    for k, v in next, fixed, from do rest = rest + v end
  end)
  if not ok then errors = errors + 1 end
end
print(rest, errors)
for n = 1, 200 do
  local from = n < 190 and 3 or n % 3 + 1
  for k, v in next, fixed, from do rest = rest + v end
end
print(rest)

-- Entries that the body removes, with collections in between: the keys are objects that only the table has held.
local removed = 0
for n = 1, 120 do
  local t = {}
  for i = 1, 5 do t[{}] = i end
  for k, v in pairs(t) do
    t[k] = nil
    k = nil
    if n % 10 == 0 then collectgarbage("step") end
    removed = removed + (v == 5 and 1 or 0)
  end
end
print(removed)

-- ipairs over lists of several lengths, with a value that is no number at the end.
local lists = { { 1, 2, 3 }, { 1, 2, 3, 4 }, {}, { 1, "x" }, { 1, 2, 3, nil, 5 } }
local function length(t)
  local n = 0
  for i, v in ipairs(t) do n = n + (v == "x" and 100 or i) end
  return n
end
local lengths = 0
for n = 1, 500 do lengths = lengths + length(lists[n < 250 and 1 or 1 + n % 5]) end
print(lengths)
