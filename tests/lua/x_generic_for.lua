-- pairs, ipairs, next and iterators of our own: changed tables, holes, early ends, __pairs, values that are nil.
local t = {}
for i = 1, 100 do t[i] = i * 2 end
local s = 0
for i, v in ipairs(t) do s = s + i * v; if i == 50 then t[i + 1] = 7 end if i == 80 then t[85] = nil end end
print(s)
local keys = { a = 1, b = 2, c = 3, [1] = 4, [2.5] = 5, [true] = 6 }
local sum, count = 0, 0
for round = 1, 40 do for k, v in pairs(keys) do sum = sum + v; count = count + 1; keys[k] = v % 10 + 1 end end
print(sum, count)
local function removing()
  local r = {}
  for i = 1, 60 do r["k" .. i] = i end
  local n = 0
  for k, v in pairs(r) do if v % 2 == 0 then r[k] = nil end n = n + v end
  local left = 0
  for _, v in pairs(r) do left = left + v end
  return n, left
end
print(removing())
local function range(a, b) return function(limit, i) if i < limit then return i + 1 end end, b, a - 1 end
local q = 0
for i in range(1, 100) do q = q + i end
for i in range(1, 10) do for j in range(i, 12) do q = q + i * j end end
print(q)
local function stateful(n) local i = 0 return function() i = i + 1; if i <= n then return i, i * i, nil, i % 2 == 0 and "even" or nil end end end
local evens = 0
for i, sq, none, e in stateful(80) do if e then evens = evens + sq end if none ~= nil then evens = -1 end end
print(evens)
local p = setmetatable({}, { __pairs = function(o) return function(_, k) k = (k or 0) + 1; if k <= 60 then return k, k * 3 end end, o, nil end })
local w = 0
for k, v in pairs(p) do w = w + k * v end
print(w)
local prox = setmetatable({}, { __index = function(_, i) if i <= 70 then return i * 10 end end })
local x = 0
for i, v in ipairs(prox) do x = x + i + v end
print(x)
print(pcall(function() for i in 5 do end end))
print(pcall(function() for i in nil do end end))
print(pcall(function() local n = 0 for k in pairs { 1 } do for j in stateful(60) do n = n + j; if j == 55 then error("in " .. n) end end end end))
print(pcall(next, {}, "nope"))
local c = 0
local k, v = next(keys)
while k ~= nil do c = c + v; k, v = next(keys, k) end
print(c)
local m = 0
for w1, w2 in ("a=1,b=22,c=333"):gmatch("(%w+)=(%w+)") do m = m + #w1 + #w2 end
print(m)
for i, line in ipairs { "x", "y", nil, "z" } do io.write(i, line, " ") end
print()
local callable = setmetatable({ n = 0 }, { __call = function(self, limit, i) self.n = self.n + 1; if i < limit then return i + 1 end end })
local cc = 0
for i in callable, 60, 0 do cc = cc + i end
print(cc, callable.n)
