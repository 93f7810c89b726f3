-- Recursive global functions, functions in the fields of modules, in environments of their own, and functions
-- that find themselves by debug.getinfo or through an argument; names that are shadowed on the way down.
function Sum(n) if n == 0 then return 0 end return n + Sum(n - 1) end
function Even(n) if n == 0 then return true end return Odd(n - 1) end
function Odd(n) if n == 0 then return false end return Even(n - 1) end
Depth, Calls = 0, 0
function Count(n)
  Calls = Calls + 1
  if n > Depth then Depth = n end
  for i = 1, n % 3 + 1 do
    if n > i then Count(n - i) end
  end
  Last = n
end
for n = 0, 60, 12 do
  Count(n % 9 + 1)
  print(n, Sum(n), Even(n), Odd(n + 2), Calls, Depth, Last)
end

local M = { depth = 0 }
function M.walk(t) return type(t) == "table" and M.node(t) or M.leaf(t) end
function M.node(t)
  M.depth = M.depth + 1
  local s = 0
  for i = 1, #t do s = s + M.walk(t[i]) end
  M.depth = M.depth - 1
  return s
end
function M.leaf(x) return x * M.depth end
local function tree(n)
  if n == 0 then return 1.5 end
  return { tree(n - 1), n, n % 2 == 0 and tree(n - 1) or 2 }
end
for n = 0, 8 do print(n, M.walk(tree(n)), M.depth) end
M.leaf = function(x) M.leaf = math.abs return -x end
print(M.walk(tree(6)), M.walk(tree(6)))

-- A copy of the function in another environment, which has its own names.
local text = [[
  local n = ...
  calls = (calls or 0) + 1
  if n <= 1 then return unit end
  return run(n - 1) * n
]]
local function instance(unit)
  local env = { unit = unit }
  env.run = load(text, "=instance", "t", env)
  return env
end
local a, b, c = instance(1), instance(0.5), instance(-1)
for n = 1, 12 do
  a.run(n)
  b.run(n)
  c.run(n % 4)
  if n == 6 then a.run, b.run = b.run, a.run end
  if n % 3 == 0 then print(n, a.run(n), b.run(n), c.run(n), a.calls, b.calls, c.calls) end
end
b.run = nil
print(pcall(a.run, 3))

-- Without a name: through an argument, through the caller's information, by a table that holds it.
local function self_applied(f, n) if n == 0 then return 0.5 end return f(f, n - 1) + n end
local function informed(n)
  if n == 0 then return 0 end
  local me = debug.getinfo(1, "f").func
  return me(n - 1) + 2
end
local function upward(n)
  if n == 0 then return debug.getinfo(2, "f").func end
  local f = upward(n - 1)
  return f
end
for n = 1, 41, 10 do print(n, self_applied(self_applied, n), informed(n), upward(n) == upward) end

-- A name that is local on some levels and global on others.
function Shadow(n)
  if n == 0 then return "global" end
  if n % 3 == 0 then
    local Shadow = function(k) return Shadow(k - 1) .. "l" .. k end
    if n % 2 == 0 then return Shadow(n - 1) .. n end
    return Shadow(n)
  end
  return Shadow(n - 1) .. "."
end
for n = 1, 25, 3 do print(n, Shadow(n), Shadow(n + 1)) end
local kept = Sum
Sum = function(n) if n < 10 then return kept(n) end return 0 end
print(kept(5), kept(12), kept(8))
setmetatable(_G, { __index = function(_, name) return function(n) return name .. (n or "") end end })
print(Missing(1), Sum(4), pcall(Absent))
Sum = nil
print(pcall(kept, 2))
setmetatable(_G, nil)
print(pcall(kept, 3))
