-- Metamethods, and functions that C calls, beside baseline code: metatables that get a metamethod late, or lose
-- it; errors, yields, hooks and overflows of the C stack inside them.

-- __eq and __newindex that come and go
local meta = {}
local a, b = setmetatable({}, meta), setmetatable({}, meta)
local function same(x, y) if x == y then return "same" end return "other" end
local function put(t, k, v) t[k] = v t.field = v t[1] = v return rawget(t, k), rawget(t, "field"), rawget(t, 1) end
local function clear(t) for k in next, t do rawset(t, k, nil) end end
for round = 1, 6 do
  if round == 3 then meta.__eq = function(x, y) return true end end
  if round == 4 then meta.__eq = nil end
  if round == 5 then rawset(meta, "__eq", function() return 1 end) end
  local seen
  for _ = 1, 50 do seen = same(a, b) end
  print(round, seen, same(a, a), same(a, {}), same({}, b))
end
meta.__eq = nil
local news = 0
for round = 1, 6 do
  if round == 3 then meta.__newindex = function(t, k, v) news = news + 1 end end
  if round == 4 then meta.__newindex = nil end
  if round == 5 then meta.__newindex = {} end
  local x, y, z
  for i = 1, 50 do
    if i % 5 == 0 then clear(a) end
    if i % 7 == 0 then a.field = nil a[1] = nil a.k = nil end
    x, y, z = put(a, "k", i)
  end
  print(round, x, y, z, news, meta.__newindex and type(meta.__newindex))
  clear(a)
end
meta.__newindex = nil
-- numbers that are equal across types, and are not themselves
local function equal(x, y) return x == y, x ~= y end
for _, p in ipairs({ { 1, 1.0 }, { 0.0, -0.0 }, { 0 / 0, 0 / 0 }, { 2 ^ 53, (1 << 53) + 1 }, { 1.5, 1.5 }, { "1", 1 } }) do
  local x, y
  for _ = 1, 30 do x, y = equal(p[1], p[2]) end
  print(x, y)
end

-- metamethods in Lua: results, errors, yields
local V = {}
V.__index = function(t, k) if k == "bad" then error("no " .. k) end return k end
V.__add = function(x, y) return setmetatable({ v = rawget(x, "v") + rawget(y, "v") }, V) end
V.__lt = function(x, y) return rawget(x, "v") < rawget(y, "v") end
V.__le = function(x, y) if rawget(x, "v") < 0 then coroutine.yield("le") end return rawget(x, "v") <= rawget(y, "v") end
V.__call = function(self, ...) return select("#", ...), ... end
V.__concat = function(x, y) return "cat" end
V.__unm = function(x) return setmetatable({ v = -rawget(x, "v") }, V) end
V.__len = function(x) return rawget(x, "v") end
V.__eq = function(x, y) return rawget(x, "v") == rawget(y, "v") end
V.__close = function(x, e) return "ignored" end
local function v(n) return setmetatable({ v = n }, V) end
local function work(x, y)
  local s = x + y
  local t = -s
  return #s, #t, x < y, x == y, x .. y, s.other, s[3], x(1, 2), (pcall(function() return s.bad end))
end
for round = 1, 60 do
  local t = table.pack(work(v(round), v(7)))
  if round % 29 == 1 then
    for i = 1, t.n do t[i] = tostring(t[i]) end
    print(table.concat(t, " "))
  end
end
print(select(2, pcall(function(x) return x.bad end, v(1))))
local co = coroutine.wrap(function() local n = 0 for i = -3, 3 do if v(i) <= v(1) then n = n + 1 end end return n end)
for _ = 1, 4 do print(co()) end

-- iterators in Lua and in C: values, errors, yields, many variables
local function range(n) local i = 0 return function() i = i + 1 if i <= n then return i, i * i, i .. "" end end end
local function walk(n)
  local s = 0
  for i, square, text in range(n) do s = s + i + square + #text end
  for i in range(n) do if i > 5 then break end s = s + i end
  for w in ("a bc def"):gmatch("%a+") do s = s + #w end
  for k, w, x, y in next, { 1, 2 } do s = s + k + w + (x == nil and y == nil and 1 or 0) end
  return s
end
for n = 1, 60 do local s = walk(n) if n % 20 == 0 then print(s) end end
co = coroutine.wrap(function()
  for i in function(_, k)
    k = (k or 0) + 1
    if k < 4 then coroutine.yield("in " .. k) return k end
  end do coroutine.yield(i) end
  return "end"
end)
for _ = 1, 7 do io.write(tostring(co()), " ") end
print()
print(pcall(function() for i in function() error("iterator", 0) end do end end))
print(pcall(function() for i in nil do end end))

-- as deep as the C stack: through metamethods, iterators and comparisons
local depth
local deep = setmetatable({}, { __index = function(t, k) depth = depth + 1 return t[k + 1] end })
local function nested(n) depth = n for _ in function(_, k) if not k then nested(n + 1) end end do end end
local sorted = setmetatable({}, { __lt = function(x, y) depth = depth + 1 return x < y end })
local function called(n) depth = n return (("x"):gsub("x", function() return called(n + 1) end)) end
for _ = 1, 3 do
  depth = 0
  local ok, message = pcall(function() return deep[1] end)
  print(ok, depth, message)
  ok, message = pcall(nested, 1)
  print(ok, depth, message)
  depth = 0
  ok, message = pcall(function() return sorted < sorted end)
  print(ok, depth, message)
  ok, message = pcall(called, 1)
  print(ok, depth, message)
end

-- hooks that a metamethod sets and takes away
local lines = {}
local hooked = setmetatable({}, { __index = function(_, k)
  if k == "on" then debug.sethook(function(_, l) lines[#lines + 1] = l end, "l") else debug.sethook() end
  return k
end })
local function with_hooks()
  local s = hooked.on
  s = s .. "."
  local t = hooked.off
  return s .. t
end
for _ = 1, 40 do with_hooks() end
print(#lines, lines[1], lines[2], lines[3], lines[#lines])
-- tracebacks through them
print((select(2, pcall(function(x)
  return setmetatable({}, { __index = function() return debug.traceback("here", 1) end }).key
end)):gsub("\n.*", "")))
local trace = setmetatable({}, { __add = function() return debug.traceback("sum", 1) end })
local text
for _ = 1, 30 do text = trace + 1 end
print(text)
for _ = 1, 30 do for where in function(_, k) if not k then return debug.traceback("step", 1) end end do text = where end end
print(text)

-- a hook that a finalizer sets while a tail call makes its result
local function reversed(s) return s:reverse() end
local function counted(n) return ("%d items"):format(n) end
local wrong, hits = 0, 0
local function hook() hits = hits + 1 debug.sethook() end
for round = 1, 4000 do
  setmetatable({}, { __gc = function() debug.sethook(hook, "r") end })
  local s = reversed("word " .. round)
  local t, rest = counted(round), reversed(s)
  if s ~= ("word " .. round):reverse() or t ~= round .. " items" or rest ~= "word " .. round then
    wrong = wrong + 1
  end
end
debug.sethook()
print(wrong, hits > 0)
