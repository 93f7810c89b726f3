-- Varargs in hot loops: select, counts, nils at the end, passing on, tables, recursion over them, calls with too few or many.
local function sum(...) local s = 0 for i = 1, select("#", ...) do s = s + (select(i, ...) or 0) end return s end
local t = 0
for i = 1, 80 do t = t + sum(i, nil, i, nil) end
print(t)
local function count(...) return select("#", ...) end
local c = 0
for i = 1, 80 do c = c + count() + count(nil) + count(nil, nil) + count(i, count(i, i)) end
print(c)
local function pass(...) return ... end
local function first(a, ...) return a, select("#", ...) end
local p = 0
for i = 1, 60 do
  local a, b, d = pass(i, i * 2)
  if d ~= nil then p = p + 1e9 end
  local x, n = first(pass(a, b, pass(i, i)))
  p = p + a + b + x + n
end
print(p)
local function fold(f, acc, x, ...) if x == nil then return acc end return fold(f, f(acc, x), ...) end
local m = 0
for i = 1, 60 do m = m + fold(function(a, b) return a + b end, 0, i, 2, 3.5) end
print(m)
local function table_of(...) local r = { ... } return #r, r[1], r[#r] end
local q = 0
for i = 1, 60 do local n, a, b = table_of(i, i + 1, i + 2); q = q + n * 100 + a + b end
print(q)
local function few(a, b, k) return (a or 1) + (b or 10) + (k or 100) end
local f = 0
for i = 1, 60 do f = f + few() + few(i) + few(i, i) + few(i, i, i, i, i) end
print(f)
local function vararg_loop(...)
  local s = 0
  for i = 1, 60 do local a, b = ...; s = s + a + (b or 0) end
  return s, ...
end
print(vararg_loop(1), vararg_loop(1, 2.5, "x"))
local packed = 0
for i = 1, 60 do local r = table.pack(pass(i % 2 == 0 and i or nil, nil)); packed = packed + r.n end
print(packed)
local u = { 1, 2, 3, nil, 5, n = 5 }
local un = 0
for i = 1, 60 do local a, b, d, e, g = table.unpack(u, 1, u.n); un = un + a + b + d + g + (e or 0) end
print(un)
print(pcall(function(...) local s = 0 for i = 1, 60 do s = s + select(i % 3 + 1, ...) end return s end, 1, 2))
print(select(-1, 1, 2, 3), pcall(select, 0, 1), select("#"))
local function tail(n, ...) if n == 0 then return ... end return tail(n - 1, n, ...) end
print(select("#", tail(60)), (tail(60)))
