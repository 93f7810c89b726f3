-- Closures over locals, parameters and varargs of functions that are inlined, one, two and three deep.
local out = {}
local function d1(x, y)
  local z = x + y
  local function add(k) z = z + k x = x - 1 return z end
  local r = add(1) + add(y)
  return r + z * 2 + x, add
end
local function d2(x, ...)
  local a, b = ...
  local function swap() a, b = b, a return a end
  local r, add = d1(x, b)
  swap()
  r = r + add(a)
  swap()
  return r + a * 10 + b, swap, function() return a + b + x end
end
local function d3(i)
  local p = i
  local bump = function() p = p + 1 end
  local r, swap, sum = d2(p, i, i + 1, nil, i)
  bump()
  r = r + swap() + sum() * 100 + p
  bump()
  return r + p, bump, sum
end
local s, keep = 0, {}
for i = 1, 40 do
  local r, bump, sum = d3(i)
  s = (s + r) % 1000003
  bump()
  if i % 8 == 0 then keep[#keep + 1] = sum end
  s = s + sum()
end
for k = 1, #keep do out[k] = keep[k]() end
print(s, table.concat(out, " "))
-- Tail calls from functions whose variables are shared.
local function finish(f, n) if n == 0 then return f() end return finish(f, n - 1) end
local function start(n)
  local hits = 0
  local function hit() hits = hits + 1 return hits + n end
  hit()
  if n % 3 == 0 then return hit() end
  if n % 3 == 1 then return finish(hit, n % 4) end
  return select(2, hit(), hit())
end
local t = 0
for i = 1, 60 do t = t + start(i) end
print(t)
-- A closure that calls its maker again: recursion through upvalues.
local function fix(f) return function(...) return f(f, ...) end end
local fact = fix(function(self, n) if n < 2 then return 1 end return n * self(self, n - 1) end)
local function make(n)
  local go
  local depth = 0
  go = function(k)
    depth = depth + 1
    if k > 0 then return k + go(k - 1) end
    return depth
  end
  return go(n) + depth
end
local u = 0
for i = 1, 50 do u = (u + fact(i % 9) + make(i % 6)) % 1000003 end
print(u)
