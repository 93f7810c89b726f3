-- Side traces that begin in metamethods, which C finishes: of each instruction that may call one, with
-- results that other paths do not have.
local V = {}
local function new(x) return setmetatable({ x = x }, V) end
local function value(a) if type(a) == "number" then return a end return rawget(a, "x") end
-- paths: a new object, a number, nothing
V.__add = function(a, b)
  local x, y = value(a), value(b)
  if x % 3 == 0 then return new(x + y) end
  if x % 3 == 1 then return x - y end
end
V.__sub = function(a, b) if value(a) > value(b) then return value(a) - value(b) end return 0.5, "lost" end
V.__mul, V.__idiv = V.__sub, V.__add
V.__band = function(a, b) if value(a) & 1 == 1 then return true end return value(a) & value(b) end
V.__shr = function(a, b) if value(a) % 4 == 0 then return "shr" end return value(a) end
V.__unm = function(a) if a.x % 2 == 0 then return a end return -a.x end
V.__bnot = function(a) if a.x % 2 == 0 then return nil end return a.x end
V.__len = function(a) if a.x > 40 then return "long" end return a.x end
V.__concat = function(a, b)
  if type(a) == "table" and a.x % 2 == 0 then return a.x .. tostring(b) end
  return type(a) == "table" and b or a
end
local text, n, s = {}, 0, 0
local function note(v)
  n = n + 1
  if type(v) == "number" then s = s + v
  elseif type(v) == "table" then s = s + rawget(v, "x") * 2
  elseif n % 20 == 0 then text[#text + 1] = tostring(v) end
end
for i = 1, 90 do
  local v, w = new(i), new(i % 7)
  note(v + w)
  note(v + 10)
  note(300 + v)
  note(v + 0.25)
  note(v - w)
  note(2 * v)
  note(v // w)
  note(v & w)
  note(6 & v)
  note(v >> 1)
  note(1 >> v)
  note(-v)
  note(~v)
  note(#v)
  note(v .. "t")
  note("t" .. v)
  note(i .. v .. "t")
end
print(n, s, table.concat(text, " "))

-- comparisons: in tests, as values, and as conditions of loops, whose jump leads back
V.__eq = function(a, b) if a.x % 2 == 0 then return b.x % 4 == 0 end return a.x == b.x and 1 end
V.__lt = function(a, b) local x, y = value(a), value(b) if x % 5 == 0 then return nil end return x < y end
V.__le = function(a, b) local x, y = value(a), value(b) if x % 2 == 0 then return x <= y end return "yes" end
local counts = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
local function count(k) counts[k] = counts[k] + 1 end
for i = 1, 120 do
  local v, w = new(i), new(i * 7 % 120)
  if v == w then count(1) end
  if v ~= w and v < w then count(2) end
  if not (v <= w) then count(3) else count(4) end
  if v < 50 then count(5) end
  if v >= 50 then count(6) end
  if 30 < v and v <= 90 then count(7) end
  local b = v == w
  if b == (v < w) then count(8) end
  local j = new(i % 4)
  repeat j.x = j.x + 1 until v < j or j.x >= 6
  counts[9] = counts[9] + j.x
  while j <= new(8) do j.x = j.x + 3 count(10) end
end
print(table.concat(counts, " "))

-- fields: by register, number, name, as a method, as a global, present and absent; and stores
local F = {}
local writes = 0
F.__index = function(t, k)
  if k == "method" then return function(self, d) return rawget(self, "n") + d end end
  if type(k) ~= "number" then return #k > 4 and k or nil end
  if k % 2 == 0 then return k * 2 end
  if k % 7 == 0 then return end
  return k + 0.5
end
F.__newindex = function(t, k, v)
  if v == nil then return end
  if type(k) == "number" and k % 3 == 0 then rawset(t, "n", v) return "ignored" end
  writes = writes + 1
end
local f, r, none = setmetatable({ n = 1 }, F), 0, 0
for i = 1, 120 do
  local v = f[i]
  if v then r = r + v else none = none + 1 end
  r = r + f[2] + (f[7] or 1)
  r = r + f:method(i)
  local key = i % 3 == 0 and "longer" or "abc"
  if f[key] then r = r + #f[key] end
  f[i] = i
  f[9] = i + 1
  f[10] = i % 4 == 0 and i or nil
  f.name = i % 5 ~= 0 and i or nil
  f[key] = r
end
print(r, none, writes, f.n, next(f, "n"))
do
  local made = 0
  local E = { __newindex = function(_, k, v) if v % 3 == 0 then made = made + v end end }
  E.__index = function(_, k)
    if made % 2 == 0 then made = made + 1 return made end
    made = made + 2
    return 1
  end
  local _ENV = setmetatable({}, E)
  local r = 0
  for i = 1, 90 do
    r = r + absent
    stored = i
  end
  text[1] = r .. " " .. made
end
print(text[1])

-- metamethods in metamethods and in functions, tail calls in them, errors and yields on one of the paths
local deep = {}
deep.__index = function(t, k)
  if k % 4 == 1 then return t[k + 1] end
  if k % 4 == 2 then return -(new(k) - new(1)) end
  return k
end
deep.__add = function(t, k) if k % 2 == 0 then return math.max(k, t[k]) end return deep.__index(t, k) end
local d = setmetatable({}, deep)
local function inner(k) if d[k] > 10 then return d + k end return k end
local z = 0
for i = 1, 150 do z = z + inner(i) + (d + i % 9) end
print(z)
local bad = setmetatable({}, { __index = function(t, k)
  if k % 3 == 0 then return 1 end
  if k == 100 then error("at " .. k) end
  if k == 80 then return k + {} end
  return 2
end })
local function sum(from, to) local a = 0 for i = from, to do a = a + bad[i] end return a end
print(sum(1, 79), pcall(sum, 1, 80))
print(sum(81, 99), select(2, xpcall(sum, debug.traceback, 81, 100)))
local Y = { __index = function(t, k)
  if k % 3 == 0 then return 1 end
  if k % 11 == 7 then return coroutine.yield(k) end
  return 2
end, __lt = function(a, b)
  if a.x % 4 == 1 then return true end
  if a.x % 10 == 0 then coroutine.yield("lt") return false end
  return a.x < b
end, __concat = function(a, b)
  if b % 3 == 0 then return "c" end
  if b % 10 == 1 then return coroutine.yield("concat") end
  return "d"
end }
for round = 1, 3 do
  local co = coroutine.wrap(function()
    local y, a = setmetatable({ x = 0 }, Y), 0
    for i = 1, 60 do
      rawset(y, "x", i)
      a = a + y[i]
      if y < 30 then a = a + 100 end
      if y .. i == "c" then a = a + 1000 end
    end
    return "done", a
  end)
  local seen = {}
  local what, a = co()
  while what ~= "done" do
    seen[#seen + 1] = what
    what, a = co(type(what) == "number" and what or "c")
  end
  print(a, table.concat(seen, " "))
end
