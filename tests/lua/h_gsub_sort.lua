-- Callbacks from C: gsub with functions and tables, sort with comparators of all kinds, errors out of them.
local calls = 0
local function upper(c) calls = calls + 1 return calls % 3 ~= 0 and c:upper() or nil end
local map = setmetatable({ a = "1", b = false }, { __index = function(_, k)
  calls = calls + 1
  return k < "m" and k .. k or nil
end })
local length = 0
for i = 1, 30 do
  local s = ("hello world %d abc"):format(i)
  local r1, n1 = s:gsub("%a", upper)
  local r2, n2 = s:gsub("%w", map)
  local r3, n3 = s:gsub("(%a)(%a)", function(a, b) return b .. a .. #r1 end, i % 4)
  local r4 = s:gsub("", "-")
  length = (length + #r1 * 3 + #r2 * 5 + #r3 * 7 + #r4 + n1 + n2 + n3) % 1000003
  if i == 30 then print(r1, r2, r3) end
end
print(length, calls)
local bad = { 0, true, {}, print }
local messages = {}
for i = 1, 24 do
  local ok, e = pcall(string.gsub, "xyz", "%a", function(c) if c == "y" then return bad[i % 5] end end)
  messages[tostring(e)] = (messages[tostring(e)] or 0) + 1
end
local list = {}
for m, n in pairs(messages) do list[#list + 1] = m .. "=" .. n end
table.sort(list)
print(table.concat(list, " | "))
-- Comparators that count, fail, are invalid, or sort again.
local compared = 0
local function less(a, b) compared = compared + 1 return a < b end
for i = 1, 20 do
  local t = {}
  for k = 1, 12 do t[k] = (k * i * 7 + 3) % 23 end
  table.sort(t, less)
  table.sort(t, function(a, b) if a == b then return false end table.sort({ a, b, 1 }, less) return a > b end)
  local ok, e = pcall(table.sort, t, function(a, b)
    if a == t[6] and i % 2 == 0 then error("stop " .. i, 0) end
    return a < b
  end)
  compared = compared + t[1] + (ok and 1 or #e)
end
print(compared)
local failures = 0
for i = 1, 20 do
  local t = {}
  for k = 1, 10 + i do t[k] = k % 4 end
  local ok, e = pcall(table.sort, t, function() return true end)
  if not ok then failures = failures + 1 end
  ok, e = pcall(table.sort, { 1, "x", 3 })
  if i == 20 then print(failures, ok, e) end
end
local objects = {}
local mt = { __lt = function(a, b) compared = compared + 1 return a.key < b.key end }
for i = 1, 16 do objects[i] = setmetatable({ key = i * 5 % 17 }, mt) end
for i = 1, 6 do table.sort(objects, i % 2 == 0 and function(a, b) return b < a end or nil) end
print(objects[1].key, objects[16].key, compared)
