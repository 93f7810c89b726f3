-- Equality of strings, tables, booleans, nil and functions; order of strings.
local t, u = {}, {}
local f, g = print, function() end
local values = { "a", "b", "a", ("long "):rep(20), ("long "):rep(20), t, u, t, true, false, f, g, f, 1, 1.0 }
local n = 15
local function equal_to(x)
  local hits = 0
  for j = 1, n do if values[j] == x then hits = hits + (1 << j) end end
  return hits
end
for j = 1, n do io.write(equal_to(values[j]), " ") end
print(equal_to(nil))
local less = 0
for i = 1, 20 do if "abc" < "abd" then less = less + 1 end; if "b" <= "a" then less = less + 100 end end
print(less)
local mt = { __eq = function(a, b) return a.x == b.x end, __lt = function(a, b) return a.x < b.x end }
local p, q = setmetatable({ x = 1 }, mt), setmetatable({ x = 1 }, mt)
local same, order = 0, 0
for i = 1, 30 do
  if p == q then same = same + 1 end
  if p < q then order = order + 1 end
  if i == 15 then q.x = 2 end
end
print(same, order)
local plain = 0
for i = 1, 20 do if t ~= u then plain = plain + 1 end; if i == 10 then u = t end end
print(plain)
