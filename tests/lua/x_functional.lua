-- Functions as values in hot loops: map, fold, compose, curry, Y, tail calls through variables, callees that change in mid-loop.
local function map(t, f) local r = {} for i = 1, #t do r[i] = f(t[i]) end return r end
local function fold(t, f, a) for i = 1, #t do a = f(a, t[i]) end return a end
local function range(n) local r = {} for i = 1, n do r[i] = i end return r end
local function compose(f, g) return function(...) return f(g(...)) end end
local function curry(f, a) return function(b) return f(a, b) end end
local function add(a, b) return a + b end
local t = range(60)
print(fold(map(t, function(x) return x * x end), add, 0), fold(map(t, curry(add, 0.5)), add, 0), fold(map(t, tostring), function(a, b) return a .. b end, ""))
local inc, dbl = curry(add, 1), function(x) return x * 2 end
local f, v = compose(inc, dbl), 0
for i = 1, 80 do v = f(v) % 1009; if i == 40 then f = compose(dbl, inc) end if i == 60 then f = compose(f, compose(f, f)) end end
print(v)
local Y = function(h) return (function(x) return x(x) end)(function(x) return h(function(...) return x(x)(...) end) end) end
local fact = Y(function(self) return function(n) return n < 2 and 1 or n * self(n - 1) end end)
local s = 0
for i = 1, 60 do s = s + fact(i % 8) end
print(s)
local fs, c = { inc, dbl, function(x) return -x end, math.abs, function(x) return x // 3 end, function(x) return x + 0.5 end }, 0
for i = 1, 120 do c = fs[i % #fs + 1](c) end
print(c)
local g = function(x) return x + 1 end
local w = 0
for i = 1, 120 do
  if i == 40 then g = function(x) return x + 2 end elseif i == 80 then g = function(x, y) return x, y end elseif i == 100 then g = select end
  w = g(w, i) or w
  if type(w) ~= "number" then w = 0 end
end
print(w)
local state = {}
function state.a(n, log) if n == 0 then return log .. "a" end return state.b(n - 1, log) end
function state.b(n, log) if n % 5 == 0 then return state.c(n, log .. "b") end return state.a(n, log) end
function state.c(n, log) if n == 0 then return log .. "c" end return state.a(n - 1, log) end
local l = ""
for i = 1, 60 do l = state.a(i, "") end
print(l)
local lazy = 0
local function thunk(x) local done, r return function() if not done then done, r = true, x * x; lazy = lazy + 1 end return r end end
local ths = map(t, thunk)
local z = 0
for round = 1, 3 do for i = 1, 60 do z = z + ths[i]() end end
print(z, lazy)
local function church(n) return function(h) return function(x) for _ = 1, n do x = h(x) end return x end end end
local function plus(m, n) return function(h) return function(x) return m(h)(n(h)(x)) end end end
print(plus(church(30), church(40))(inc)(0), church(60)(dbl)(1), church(63)(dbl)(1), church(64)(dbl)(1))
local zipped = 0
local function zip(a, b, h) for i = 1, math.min(#a, #b) do zipped = zipped + h(a[i], b[i]) end end
zip(t, range(40), function(a, b) return a * b end)
zip(t, map(range(50), function(x) return x / 4 end), math.max)
print(zipped)
