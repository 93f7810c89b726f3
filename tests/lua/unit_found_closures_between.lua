-- A recursion through a function that makes closures over its registers: what they share is where the
-- closures look for it, also while the recursion goes on below.
local saved, f
local function g(n)
  local x = n
  saved = function() x = x + 1 return x end
  local r = f(n - 1)
  return x + r
end
function f(n)
  if n <= 0 then return saved and saved() or 0 end
  local r = g(n)
  return r + 1
end
for i = 1, 40 do io.write(f(i % 7), " ") end
print()
local h
local function k(n, c)
  local x = n
  local function inc() x = x + n end
  inc()
  local r = h(n - 1, inc)
  if c then c() end
  return x + r
end
function h(n, c)
  if n <= 0 then if c then c() end return 1 end
  if n % 2 == 0 then local r = k(n, c) return r end
  local r = h(n - 1, c)
  return r + n
end
for i = 1, 40 do io.write(h(i % 9), " ") end
print()
local kept = {}
local q
local function p(n)
  local x = n * 2
  if n % 3 == 0 then kept[#kept + 1] = function(v) x = v or x return x end end
  local r = q(n - 1)
  if #kept > 0 and n % 2 == 0 then kept[#kept](n) end
  return x + r
end
function q(n)
  if n <= 0 then return #kept end
  local a = q(n - 2)
  local b = p(n)
  return a + b
end
for i = 1, 30 do
  kept = {}
  io.write(q(i % 10), " ")
  local s = 0
  for _, c in ipairs(kept) do s = s + c() end
  io.write(s, "; ")
end
print()
local outer = 0
local function scope(m)
  local u = m
  local function rec(n)
    u = u + 1
    if n <= 0 then outer = outer + u return u end
    local r = rec(n - 1)
    return r + 1
  end
  local t = 0
  for i = 1, m do
    t = t + rec(i % 5) + u
    if i % 4 == 0 then u = u * 2 % 97 end
  end
  return t, u
end
for i = 1, 20 do print(i, outer, scope(i)) end
local function twice(n)
  local c = 0
  local function go(a) c = c + 1 if a > 0 then go(a - 1) go(a - 2) end return c end
  local x = go(n)
  c = c + 100
  return x, go(2), c
end
for i = 1, 12 do print(twice(i)) end
