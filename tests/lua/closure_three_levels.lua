-- Closures nested in three and more levels: variables of all levels are read and written from the innermost
-- one, before and after the outer functions have returned; functions that return functions to any depth.
local function level1(a)
  local x = a
  return function(b)
    local y = b
    x = x + 1
    return function(c)
      local z = c
      y = y + x
      return function(d)
        x, y, z = x + d, y + z, z + x
        a = a + 1
        return a, x, y, z
      end
    end
  end
end
local f2 = level1(1)
local f3 = f2(10)
local f4, g4 = f3(100), f2(20)(200)
for i = 1, 300 do
  f4(i % 5)
  if i % 3 == 0 then g4(0.5) end
  if i % 100 == 0 then print(i, f4(0)) print(i, g4(0)) f3 = f2(i) f4 = f3(1) end
end

local function curry(n, f)
  local function more(k, ...)
    if k == 0 then return f(...) end
    local given, count = { ... }, select("#", ...)
    return function(x)
      local all = table.move(given, 1, count, 1, {})
      all[count + 1] = x
      return more(k - 1, table.unpack(all, 1, count + 1))
    end
  end
  return more(n)
end
local add4 = curry(4, function(a, b, c, d) return a + b * 10 + c * 100 + d * 1000 end)
local with1, with12 = add4(1), add4(1)(2)
local sum = 0
for i = 1, 60 do sum = sum + with12(i % 7)(i % 5) + with1(i)(0.5)(1) end
print(sum, add4(1)(2)(3)(4), with12(9)(9))

-- A variable of the outermost level is shared by all, one of the middle by some.
local log = {}
local function tree(depth, path)
  local hits = 0
  local children = {}
  if depth > 0 then
    for i = 1, 2 do children[i] = tree(depth - 1, path .. i) end
  end
  return function(n, note)
    hits = hits + 1
    if note then log[#log + 1] = path .. ":" .. hits end
    if depth == 0 then return hits end
    local s = 0
    for i = 1, 2 do
      if (n + i) % 3 ~= 0 then s = s + children[i](n // 2, note) end
    end
    return s + hits
  end
end
local root = tree(4, "r")
sum = 0
for n = 1, 60 do sum = sum + root(n, n % 30 == 0) end
print(sum, #log, table.concat(log, " "):sub(1, 100))

-- Church numerals and pairs: functions all the way down.
local function zero(f) return function(x) return x end end
local function succ(n) return function(f) return function(x) return f(n(f)(x)) end end end
local function plus(m, n) return function(f) return function(x) return m(f)(n(f)(x)) end end end
local function times(m, n) return function(f) return m(n(f)) end end
local function number(n) return n(function(k) return k + 1 end)(0) end
local function pair(a, b) return function(pick) return pick(a, b) end end
local function first(p) return p(function(a, b) return a end) end
local function second(p) return p(function(a, b) return b end) end
local function pred(n)
  return first(n(function(p) return pair(second(p), succ(second(p))) end)(pair(zero, zero)))
end
local n = zero
for i = 1, 9 do
  n = succ(n)
  print(i, number(n), number(plus(n, n)), number(times(n, n)), number(pred(n)))
end
local function list(n) if n == 0 then return nil end return pair(n, list(n - 1)) end
local function fold(l, f, acc)
  if l == nil then return acc end
  return fold(second(l), f, f(acc, first(l)))
end
print(fold(list(60), function(a, b) return a * 2 % 1009 + b end, 0.5))
-- A fixed point without a name.
local function fix(f)
  return (function(x) return x(x) end)(function(x) return f(function(...) return x(x)(...) end) end)
end
local fact = fix(function(self) return function(n) if n < 2 then return 1 end return n * self(n - 1) end end)
local fib = fix(function(self)
  return function(n) if n < 2 then return n end return self(n - 1) + self(n - 2) end
end)
for n = 0, 16, 4 do print(n, fact(n), fib(n), fact(n + 0.0)) end
