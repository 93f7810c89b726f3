-- Recursion through metamethods of operators: Peano numbers with __add, __mul, __lt, __le and __eq, lists
-- with __concat and __len, expressions that __unm derives and __call evaluates.
local Peano = {}
Peano.__index = Peano
local zero = setmetatable({}, Peano)
local function s(n) return setmetatable({ pred = n }, Peano) end
local function peano(n) local p = zero for i = 1, n do p = s(p) end return p end
local function value(p) local n = 0 while p.pred do n = n + 1 p = p.pred end return n end
function Peano.__add(a, b)
  if not b.pred then return a end
  return s(a + b.pred)
end
function Peano.__mul(a, b)
  if not b.pred then return zero end
  return a * b.pred + a
end
function Peano.__lt(a, b)
  if not b.pred then return false end
  if not a.pred then return true end
  return a.pred < b.pred
end
function Peano.__le(a, b) return not (b < a) end
function Peano.__eq(a, b)
  local x, y = rawget(a, "pred"), rawget(b, "pred")
  if x and y then return x == y end
  return not x and not y
end
function Peano.__idiv(a, b)
  if a < b then return zero end
  local x, y = a, b
  while y.pred do x, y = x.pred, y.pred end
  return s(x // b)
end
local log = {}
for a = 0, 6 do
  for b = 1, 5 do
    local x, y = peano(a), peano(b)
    local marks = (x < y and "<" or "") .. (x <= y and "l" or "") .. (x == y and "=" or "")
    marks = marks .. (x > y and ">" or "") .. (x ~= y and "!" or "")
    log[#log + 1] = value(x + y) .. "," .. value(x * y) .. "," .. value(x // y) .. marks
  end
  print(a, table.concat(log, " "))
  log = {}
end

local List = {}
local function list(x, rest) return setmetatable({ x = x, rest = rest }, List) end
function List.__len(l) return l.rest and 1 + #l.rest or 1 end
function List.__concat(a, b)
  if type(a) ~= "table" then return list(a, b) end
  if type(b) ~= "table" then b = list(b) end
  if not a.rest then return list(a.x, b) end
  return list(a.x, a.rest .. b)
end
function List.__tostring(l) return l.x .. (l.rest and " " .. tostring(l.rest) or "") end
function List.__call(l, f, acc)
  acc = f(acc, l.x)
  if l.rest then return l.rest(f, acc) end
  return acc
end
local l = list(0)
for i = 1, 30 do
  l = l .. i * 0.5
  if i % 10 == 0 then
    l = i .. l
    print(#l, l)
    print(l(function(a, x) return a + x end, 0), l(function(a, x) return x < a and x or a end, 1e9))
  end
end
print(#("a" .. l .. l .. "b"), #(l .. l .. l))

-- Expressions: __call evaluates, __unm derives, __add and __mul simplify.
local E = {}
local function e(op, a, b) return setmetatable({ op, a, b }, E) end
local function wrap(x) return type(x) == "number" and e("n", x) or x end
E.__add = function(a, b)
  a, b = wrap(a), wrap(b)
  if a[1] == "n" and a[2] == 0 then return b end
  if b[1] == "n" and b[2] == 0 then return a end
  if a[1] == "n" and b[1] == "n" then return e("n", a[2] + b[2]) end
  return e("+", a, b)
end
E.__mul = function(a, b)
  a, b = wrap(a), wrap(b)
  if a[1] == "n" and a[2] == 0 or b[1] == "n" and b[2] == 0 then return e("n", 0) end
  if a[1] == "n" and a[2] == 1 then return b end
  if b[1] == "n" and b[2] == 1 then return a end
  return e("*", a, b)
end
E.__unm = function(a)
  if a[1] == "n" then return e("n", 0) end
  if a[1] == "x" then return e("n", 1) end
  if a[1] == "+" then return -a[2] + -a[3] end
  return -a[2] * a[3] + a[2] * -a[3]
end
E.__call = function(a, x)
  local op = a[1]
  if op == "n" then return a[2] end
  if op == "x" then return x end
  if op == "+" then return a[2](x) + a[3](x) end
  return a[2](x) * a[3](x)
end
local x = e("x")
local p = 3 * x * x * x + 2 * x * x + x * 7 + 5
for i = 0, 4 do
  local line = {}
  for k = -3, 3 do line[#line + 1] = tostring(p(k)) .. "/" .. tostring(p(k + 0.5)) end
  print(i, table.concat(line, " "))
  p = -p
end
