-- Sorting with comparison functions: upvalues that count, fields, strings, stability not assumed, invalid orders, errors.
local function numbers(n) local t, x = {}, 17 for i = 1, n do x = (x * 1103 + 12345) % 1009; t[i] = x end return t end
local t, compares = numbers(100), 0
table.sort(t, function(a, b) compares = compares + 1; return a > b end)
local ok = true
for i = 2, #t do if t[i] > t[i - 1] then ok = false end end
print(ok, compares > 100, t[1], t[100])
local records = {}
for i, v in ipairs(numbers(60)) do records[i] = { key = v % 7, id = i, name = "n" .. v % 10 } end
table.sort(records, function(a, b) if a.key ~= b.key then return a.key < b.key end return a.id < b.id end)
local line = {}
for i, r in ipairs(records) do line[i] = r.key .. "." .. r.id end
print(table.concat(line, " "))
table.sort(records, function(a, b) return a.name < b.name or a.name == b.name and a.id > b.id end)
for i, r in ipairs(records) do line[i] = r.name .. r.id end
print(table.concat(line, " "))
local function insertion(a, less)
  for i = 2, #a do
    local v, j = a[i], i - 1
    while j > 0 and less(v, a[j]) do a[j + 1] = a[j]; j = j - 1 end
    a[j + 1] = v
  end
  return a
end
print(table.concat(insertion(numbers(40), function(a, b) return a % 100 < b % 100 end), " "))
local function quick(a, lo, hi, less)
  if lo < hi then
    local p, i = a[hi], lo
    for j = lo, hi - 1 do if less(a[j], p) then a[i], a[j] = a[j], a[i]; i = i + 1 end end
    a[i], a[hi] = a[hi], a[i]
    quick(a, lo, i - 1, less); quick(a, i + 1, hi, less)
  end
  return a
end
print(table.concat(quick(numbers(60), 1, 60, function(a, b) return a < b end), " ", 1, 20))
local mixed = {}
for i = 1, 60 do mixed[i] = i % 2 == 0 and (i * 37 % 61) or (i * 37 % 61) + 0.5 end
quick(mixed, 1, 60, function(a, b) return a < b end)
print(table.concat(mixed, " ", 1, 12), mixed[60])
print(pcall(table.sort, { 3, 1, "x", 2 }))
print(pcall(table.sort, numbers(30), function(a, b) if a == 1000 or b % 50 == 7 then error("compare", 0) end return a < b end))
print(pcall(table.sort, numbers(50), function() return true end))
local function merge(a)
  if #a <= 1 then return a end
  local l, r = {}, {}
  for i = 1, #a do if i <= #a // 2 then l[#l + 1] = a[i] else r[#r + 1] = a[i] end end
  l, r = merge(l), merge(r)
  local out, i, j = {}, 1, 1
  while i <= #l or j <= #r do
    if j > #r or i <= #l and l[i] <= r[j] then out[#out + 1] = l[i]; i = i + 1 else out[#out + 1] = r[j]; j = j + 1 end
  end
  return out
end
print(table.concat(merge(numbers(50)), " ", 1, 25))
local words = {}
for i = 1, 60 do words[i] = ("w%d"):format(i * 7919 % 97) end
table.sort(words)
print(table.concat(words, " ", 1, 15))
