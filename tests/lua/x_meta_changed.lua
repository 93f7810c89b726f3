-- Metatables and metamethods that are set, changed and removed while loops that depend on them are compiled.
local o, s = { a = 1 }, 0
for i = 1, 150 do
  if i == 40 then setmetatable(o, { __index = { b = 10 } }) end
  if i == 80 then getmetatable(o).__index = { b = 100 } end
  if i == 110 then getmetatable(o).__index = nil end
  if i == 130 then setmetatable(o, nil) end
  s = s + o.a + (o.b or 0)
end
print(s)
local p, t = {}, {}
for i = 1, 100 do
  if i == 50 then setmetatable(p, { __newindex = function(_, k, v) t[k] = v end }) end
  if i == 75 then setmetatable(p, { __newindex = t }) end
  p[i] = i * i
end
print(#p, p[49], p[50], t[50], t[80], t[49])
local a = setmetatable({ v = 1 }, { __add = function(x, y) return (type(x) == "table" and x.v or x) + (type(y) == "table" and y.v or y) end })
local sum = 0
for i = 1, 100 do
  if i == 30 then getmetatable(a).__add = function() return 1000 end end
  if i == 60 then getmetatable(a).__radd = 1; a.v = 2.5 end
  sum = sum + (a + i) + (i + a)
end
print(sum)
local e1, e2 = setmetatable({}, { __eq = function() return true end }), {}
local eq = 0
for i = 1, 100 do
  if i == 50 then setmetatable(e1, nil) end
  if i == 75 then setmetatable(e2, { __eq = function() return i % 2 == 0 end }) end
  if e1 == e2 then eq = eq + i end
end
print(eq)
local l = { 1, 2, 3 }
local len = 0
for i = 1, 100 do
  if i == 40 then setmetatable(l, { __len = function() return 50 end }) end
  if i == 80 then setmetatable(l, { __len = function() return 0.5 end }) end
  len = len + #l
end
print(len)
local f = 0
local callable = setmetatable({}, { __call = function(self, x) return x + 1 end })
for i = 1, 100 do
  if i == 60 then getmetatable(callable).__call = function(self, x) return x * 2 end end
  f = f + callable(i)
end
print(f, pcall(function() for i = 1, 60 do if i == 50 then setmetatable(callable, nil) end callable(i) end end))
-- Metatables of strings and numbers.
local smeta = getmetatable("")
local old = smeta.__index
local n = 0
for i = 1, 90 do
  if i == 50 then smeta.__index = function(str, k) return k == "size" and #str or old[k] end end
  n = n + (i >= 50 and ("abc").size or ("abc"):len())
end
smeta.__index = old
print(n)
debug.setmetatable(1, { __index = function(x, k) return x + #k end, __call = function(x, y) return x * y end })
local m = 0
for i = 1, 60 do m = m + (i).abc + i(2) end
debug.setmetatable(1, nil)
print(m, pcall(function() local x = 0 for i = 1, 60 do x = i > 55 and i.abc or i end end))
local chain = setmetatable({}, { __index = setmetatable({}, { __index = setmetatable({ deep = 1 }, { __index = function(_, k) return k end }) }) })
local d = 0
for i = 1, 60 do d = d + chain.deep + #chain.other end
print(d)
local protected = setmetatable({}, { __metatable = "locked", __index = { z = 1 } })
local z = 0
for i = 1, 60 do z = z + protected.z; if i == 30 then print(pcall(setmetatable, protected, {})) end end
print(z, getmetatable(protected))
