-- Operators on tables: metamethods as part of the trace, with operands of all kinds, errors, yields and tracebacks inside.
local V = {}
V.__index = V
local function new(x) return setmetatable({ x = x }, V) end
local known = {}
local function number(v) return known[v] or v end
V.__add = function(a, b) return number(a) + number(b) end
V.__sub = function(a, b) return number(a) - number(b) end
V.__mul = function(a, b) return number(a) * number(b) end
V.__div = function(a, b) return number(a) / number(b), "dropped" end
V.__mod = function(a, b) return number(a) % number(b) end
V.__pow = function(a, b) return number(a) ^ number(b) end
V.__idiv = function(a, b) return number(a) // number(b) end
V.__band = function(a, b) return number(a) & number(b) end
V.__bor = function(a, b) return number(a) | number(b) end
V.__bxor = function(a, b) return number(a) ~ number(b) end
V.__shl = function(a, b) return number(a) << number(b) end
V.__shr = function(a, b) return number(a) >> number(b) end
V.__unm = function(a, b) return -a.x, a.x == b.x end
V.__bnot = function(a) return ~a.x end
V.__len = function(a, b) return a.x == b.x and a.x or -1 end
V.__concat = function(a, b) return number(a) .. "," .. number(b) end
V.__eq = function(a, b) return a.x == b.x end
V.__lt = function(a, b) return number(a) < number(b) end
V.__le = function(a, b) return number(a) <= number(b) end
V.__call = function(self, a, b) return self.x + (a or 0), b end
local s, v, w = 0, new(3), new(5)
known[v], known[w] = 3, 5
for i = 1, 90 do local r = v + w + i s = s + r end
for i = 1, 90 do local r = i + v s = s + r r = v + i s = s + r r = v - 1 s = s + r r = 1 - v s = s + r end
for i = 1, 90 do s = s + v * i + i * w + v * 2 + 2.5 * v + v / i + 7 / v + v % 2 + i % v end
for i = 1, 90 do s = s + v ^ 2 + 2 ^ v + v // 2 + i // v + 100 // w end
for i = 1, 90 do s = s + (v & i) + (i | w) + (v ~ 1) + (v << 1) + (1 << w) + (w >> 1) + (i >> v) + ~v end
print(s)
for i = 1, 90 do local m = -v s = s + m + #w end
local length = 0
for i = 1, 90 do local t = v .. i length = length + #t t = i .. w length = length + #t t = "s" .. v length = length + #t t = v .. w length = length + #t end
for i = 1, 90 do length = length + #("a" .. v .. "b") + #(v .. i .. "c") end
print(s, length)
local n = 0
local others = {}
for i = 1, 7 do others[i] = new(i - 1) known[others[i]] = i - 1 end
for i = 1, 90 do
  local o = others[i % 7 + 1]
  if o == v then n = n + 1 end
  if o ~= w then n = n + 10 end
  if o < v then n = n + 100 end
  if o <= v then n = n + 1000 end
  if o > 4 then n = n + 10000 end
  if 4 >= o then n = n + 100000 end
  if o < 2.0 then n = n + 1 end
  if not (o >= i) then n = n + 2 end
  n = n + (o == o and 1 or 0) + (o == i and 1 or 0)
end
print(n)
for i = 1, 90 do local a, b = v(i, "x") s = s + a + #b s = s + w() + (v(1)) end
local fewer = 0
for i = 1, 90 do if others[1] < others[i % 7 + 1] then fewer = fewer + 1 end end
for i = 1, 90 do if others[3] <= others[i % 7 + 1] then fewer = fewer + 1 end end
for i = 1, 90 do if others[3] == others[i % 7 + 1] then fewer = fewer + 1 end end
for i = 1, 90 do if v > 2 then fewer = fewer + 1 end if v < 3.5 then fewer = fewer + 1 end if i >= v then fewer = fewer + 1 end end
print(fewer)
local function tails(f, ...) return f(...) end
for i = 1, 90 do s = s + tails(v, i) end
print(s)
-- truth values of comparisons that are none, results that are missing
local T = {}
T.__lt = function(a, b) if a.n % 3 == 0 then return nil elseif a.n % 3 == 1 then return "yes" end end
T.__eq = function(a, b) return a.n end
T.__add = function() end
T.__len = function() return nil, 1 end
local t, other = setmetatable({ n = 0 }, T), setmetatable({}, T)
n = 0
for i = 1, 90 do t.n = i if t < v then n = n + 1 end if t == other then n = n + 100 end if t + 1 == nil and #t == nil then n = n + 1000 end end
print(n)
-- the second operand's, the first operand's first; metatables that change while the loop runs
local A, B = { __add = function() return 1 end }, { __add = function() return 2 end }
local a, b, plain = setmetatable({}, A), setmetatable({}, B), setmetatable({}, {})
n = 0
for i = 1, 120 do
  n = n + (a + b) + (b + a) * 10 + (plain + b) * 100
  if i == 40 then A.__add = function() return 3 end end
  if i == 60 then getmetatable(plain).__add = function() return 4 end end
  if i == 80 then A.__add = nil end
  if i == 100 then setmetatable(b, A) A.__add = B.__add end
end
print(n)
-- inside: nested metamethods, loops, calls, errors, tracebacks, yields
local N = {}
N.__index = function(self, key) local r = v + w return r + (key == "deep" and (self * self) or 0) end
N.__mul = function(x, y) if x.count == 66 then print(debug.traceback("in mul")) end return #("" .. x.count) end
N.__lt = function(x, y) if x.count == y then error("compared", 2) end return x.count < y end
N.__concat = function(x, y) if x.count == 70 then return x.count + nil end return "c" .. x.count end
local o = setmetatable({ count = 0 }, N)
for i = 1, 80 do o.count = i s = s + o.deep + o.shallow end
print(s)
print(pcall(function() for i = 1, 90 do o.count = i if o < 77 then s = s + 1 end end end))
print(select(2, xpcall(function() for i = 1, 90 do o.count = i if o < 77 then s = s + 1 end end end, debug.traceback)))
print(select(2, xpcall(function() for i = 1, 90 do o.count = i s = s + #(o .. i) end end, debug.traceback)))
local Y = {}
Y.__add = function(x, y) if y % 30 == 0 then return coroutine.yield("add", y) end return y end
Y.__lt = function(x, y) if y % 40 == 0 then return coroutine.yield("lt", y) end return y < 50 end
Y.__eq = function(x, y) if s % 7 == 0 then coroutine.yield("eq", s) end return false end
Y.__concat = function(x, y) if #y == 2 and y < "15" then return coroutine.yield("concat", y) end return y end
Y.__index = function(x, k) if k % 35 == 0 then return coroutine.yield("index", k) end return k end
Y.__newindex = function(x, k, z) if k % 45 == 0 then coroutine.yield("newindex", k, z) end end
Y.__call = function(x, k) if k % 55 == 0 then return coroutine.yield("call", k) end return 1 end
Y.__unm = function(x) if s % 11 == 0 then return coroutine.yield("unm") end return 1 end
Y.__len = function(x) if s % 13 == 0 then return coroutine.yield("len") end return 1 end
local y, z = setmetatable({}, Y), setmetatable({}, Y)
local co = coroutine.wrap(function()
  s = 0
  for i = 1, 100 do
    s = s + (y + i) + (y < i and 1 or 2) + (y == z and 3 or 4) + #(y .. tostring(i)) + y[i] + y(i) + -y + #y
    y[i] = s
  end
  return "done", s
end)
local answer, calls = nil, 0
repeat
  local what, x = co(answer)
  calls = calls + 1
  answer = what == "concat" and "text" or calls
  if what == "lt" then answer = calls % 2 == 0 end
until what == "done"
print(calls, s)
-- the depth of calls through C is limited as ever
local D = {}
D.__index = function(self, k) if k == 0 then return 0 end return self[k - 1] + 1 end
local d = setmetatable({}, D)
for i = 1, 70 do s = s + d[i % 5] end
print(s, d[150], (select(2, pcall(function() return d[250] end))))
