-- t[k] with keys in variables: short and long strings, strings made by concatenation, booleans, floats, tables, functions, nil.
local long1, long2 = ("k"):rep(50), ("k"):rep(49) .. "l"
local keys = { "a", "b", long1, long2, true, false, 1.5, 2, print, {} }
local t, s = {}, 0
for i = 1, 150 do
  local k = keys[i % 10 + 1]
  t[k] = (t[k] or 0) + i
  if k == long1 then s = s + t[("k"):rep(50)] end
  if i % 31 == 0 then t[k] = nil end
end
local line = {}
for i, k in ipairs(keys) do line[i] = tostring(t[k]) end
print(s, table.concat(line, " "))
local u, n = {}, 0
for i = 1, 120 do
  local k = "f" .. i % 12
  u[k] = (u[k] or 0) + 1
  if u.f3 then n = n + u.f3 end
end
print(n, u.f0, u.f11, u.f12)
local fields, r = { "x", "y", "z" }, { x = 1, y = 2, z = 3 }
for i = 1, 120 do
  local from, to = fields[i % 3 + 1], fields[(i + 1) % 3 + 1]
  r[from], r[to] = r[to] + 1, r[from]
end
print(r.x, r.y, r.z)
print(pcall(function() local q, k = {}, "a" for i = 1, 60 do if i == 50 then k = nil end q[k] = i end end))
print(pcall(function() local q, k = { a = 1 }, "a" for i = 1, 60 do if i == 50 then k = nil end if q[k] == nil then return "absent", i end end end))
print(pcall(function() local q, k = {}, 1 for i = 1, 60 do if i == 50 then k = 0 / 0 end q[k] = i end end))
local one, count = {}, 0
for i = 1, 60 do
  local k = i % 4 == 0 and 1 or i % 4 == 1 and 1.0 or i % 4 == 2 and "1" or 1.5
  one[k] = (one[k] or 0) + 1
end
print(one[1], one["1"], one[1.5])
local words = {}
for w in ("to be or not to be that is the question whether tis nobler in the mind to suffer"):gmatch("%a+") do
  for i = 1, 4 do words[w] = (words[w] or 0) + 1 end
end
local sorted = {}
for w, c in pairs(words) do sorted[#sorted + 1] = w .. c end
table.sort(sorted)
print(table.concat(sorted, " "))
local obj = { kind = "a", a = function(x) return x + 1 end, b = function(x) return x * 2 end, c = 5 }
local v = 1
for i = 1, 90 do
  obj.kind = i % 2 == 0 and "a" or "b"
  v = obj[obj.kind](v) % 1000
end
print(v, pcall(function() for i = 1, 60 do local k = i == 55 and "c" or "a"; obj[k](1) end end))
local grid = {}
for i = 1, 60 do local k = (i % 5) .. "," .. (i % 3); grid[k] = (grid[k] or 0) + i end
local g = {}
for k, c in pairs(grid) do g[#g + 1] = k .. "=" .. c end
table.sort(g)
print(table.concat(g, " "))
