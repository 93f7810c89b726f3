-- debug.traceback in closures and recursion: names of locals, upvalues, fields and methods, lines of nested
-- functions, shortened texts of deep recursion, coroutines, metamethods, and messages that are no texts.
local function short(s) return (s:gsub("\n%s*", " | "):gsub("%[C%]: in %?", "C")) end
local function trace(m) return debug.traceback(m or "t", 2) end
local function outer(n)
  local function inner(k)
    if k == 0 then
      local s = trace()
      return s
    end
    local s = inner(k - 1)
    return s
  end
  local s = inner(n)
  return s
end
for n = 0, 3 do
  local s
  for i = 1, 20 do s = outer(n) end
  print(n, short(s))
end
-- Levels in the middle of a deep stack are left out.
local function deep(n, f)
  if n == 0 then return (f()) end
  local r = deep(n - 1, f)
  return r
end
for n = 5, 65, 20 do
  local s = deep(n, trace)
  local lines = 0
  for _ in s:gmatch("\n") do lines = lines + 1 end
  print(n, lines, s:match("%.%.%.[^\n]*"))
end
-- By field, method, global, and as an argument of a library function.
local object = { field = {} }
function object.plain() local s = trace("plain") return s end
function object:method() local s = self.plain() return s end
function object.field.inner() local s = object:method() return s end
function GlobalFunction() local s = object.field.inner() return s end
local text
for i = 1, 20 do text = GlobalFunction() end
print(short(text))
print(short(select(2, pcall(function() local s = trace("pcall") return s end))))
local seen
table.sort({ 2, 1 }, function(a, b) seen = seen or trace("sort") return a < b end)
print(short(seen))
seen = nil
local s = ("x"):gsub("x", function() seen = trace("gsub") end)
print(short(seen))
-- Metamethods and iterators.
local mt = { __index = function(t, k) local s = trace(k) return s end }
mt.__add = function() return (trace("add")) end
mt.__call = function(self, m) return (trace(m)) end
mt.__close = function() seen = trace("close") end
local t = setmetatable({}, mt)
for i = 1, 20 do text = t.name end
print(short(text))
print(short(t + 1))
print(short(t("call")))
do local c <close> = t end
print(short(seen))
for _, line in function(_, i) if not i then return 1, (trace("iterator")) end end do print(short(line)) end
-- Of other coroutines, from outside and inside, at some depth.
local function yielding(n)
  if n == 0 then coroutine.yield() error("after") end
  yielding(n - 1)
  return n
end
for n = 0, 2 do
  local co = coroutine.create(yielding)
  coroutine.resume(co, n)
  print(n, short(debug.traceback(co)), short(debug.traceback(co, "m", 1)), short(debug.traceback(co, nil, 0)))
  print(n, select(2, coroutine.resume(co)), short(debug.traceback(co)))
end
-- Messages that are no texts come back as they are.
local e = {}
print(debug.traceback(e) == e, short(debug.traceback(12)), debug.traceback(print) == print)
-- As a handler of errors at several depths, hot; the text is the same each time.
local function fails(n)
  if n == 0 then local x = t.a.b.c return x + nil end
  local r = fails(n - 1)
  return r
end
local first, same = nil, 0
for i = 1, 60 do
  local ok, s = xpcall(fails, debug.traceback, i % 4)
  if i == 4 then first = s end
  if s == first then same = same + 1 end
  if i > 56 then print(short(s)) end
end
print(same)
