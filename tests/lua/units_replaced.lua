-- Functions that are replaced while hot: globals, fields, upvalues and metamethods, by others with the same
-- and another prototype; functions that are loaded from text; and environments that change.
function Global(x) return x + 1 end
local function use_global(n)
  local s = 0
  for i = 1, n do s = s + Global(i) end
  return s
end
print(use_global(50), use_global(10))
function Global(x) return x * 0.5 end
print(use_global(50))
local plain = Global
Global = function(x) if x % 7 == 0 then Global = plain end return 1000 end
print(use_global(50))
Global = setmetatable({}, { __call = function(self, x) return -x end })
print(use_global(20))
Global = nil
print(pcall(use_global, 3))
Global = math.floor
print(use_global(20))

-- A recursive global function is replaced by itself at some depth.
function Down(n)
  if n == 0 then return 0 end
  if n == 20 then
    local old = Down
    Down = function(k) if k == 3 then Down = old end return old(k) + 0.5 end
  end
  return 1 + Down(n - 1)
end
for n = 5, 45, 10 do print(n, Down(n), Down(n)) end

-- Closures of one prototype in turn: same code, other variables.
local function make(k) return function(x) return x * k end end
local current = make(1)
local function use(n)
  local s = 0
  for i = 1, n do
    s = s + current(i)
    if i % 13 == 0 then current = make(i % 3 == 0 and i or i / 2) end
  end
  return s
end
for n = 10, 100, 30 do print(n, use(n)) end

local module = { f = function(x) return x end, g = function(x) return x + 1 end }
local function swap(n)
  local s = 0
  for i = 1, n do
    s = s + module.f(i) * 2 - module.g(i)
    if i % 17 == 0 then module.f, module.g = module.g, module.f end
    if i % 50 == 0 then module.f = tonumber end
  end
  return s
end
for n = 10, 130, 40 do print(n, swap(n)) end

-- Metamethods that come, change and go.
local mt = {}
local t = setmetatable({}, mt)
local function get(n)
  local s = 0
  for i = 1, n do
    s = s + (t[i] or 1)
    if i == 20 then mt.__index = function(_, k) return k * 2 end end
    if i == 40 then mt.__index = { [41] = 0.5, [45] = 7 } end
    if i == 60 then mt.__index = nil end
  end
  return s
end
print(get(80), get(30), get(10))
mt.__call = function(self, n)
  if n > 0 then return self(n - 1) + 1 end
  mt.__call = function() return 100 end
  return 1
end
print(t(5), t(5))
mt.__call = nil
print(pcall(t, 1))

-- Functions from text, with environments of their own.
local function compile(text, env) return assert(load(text, "=text", "t", env)) end
local total = 0
for k = 1, 6 do
  local env = { k = k, log = {} }
  local f = compile("local n = ... local s = 0 for i = 1, n do s = s + i * k last = s end return s", env)
  for i = 1, 10 do total = total + f(i + k) end
  print(k, total, env.last)
end
local fact = compile([[
  function fact(n) if n < 2 then return base end return n * fact(n - 1) end
  return fact(...)
]], { base = 1 })
for n = 1, 22, 7 do print(n, fact(n)) end
local function env_function(n)
  local _ENV = { x = n, y = 0 }
  for i = 1, n do
    y = y + x
    x = x - 1
    if i % 10 == 0 then _ENV = { x = x, y = y / 2 } end
  end
  return y, x
end
for n = 3, 53, 10 do print(n, env_function(n)) end
local source = string.dump(make(3))
local loaded = load(source, "dump", "b")
debug.setupvalue(loaded, 1, 4)
local s = 0
for i = 1, 100 do s = s + loaded(i) end
print(s)
