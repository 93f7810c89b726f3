-- Hooks and recursion: counts of calls, returns and lines of recursive functions, hooks that are set and
-- taken away at some depth, hooks that change variables and throw, and functions that are hot before.
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local function loop(n) local s = 0 for i = 1, n do s = s + i end return s end
print(fib(15), loop(100))
local counts
local function hooked(mask, count, f, ...)
  counts = { call = 0, ["return"] = 0, line = 0, count = 0, ["tail call"] = 0 }
  debug.sethook(function(event) counts[event] = counts[event] + 1 end, mask, count)
  local r = f(...)
  debug.sethook()
  return r, counts.call, counts["return"], counts.line, counts.count, counts["tail call"]
end
local function tail(n) if n == 0 then return 0 end return tail(n - 1) end
for _, mask in ipairs { "c", "r", "l", "crl" } do
  print(mask, hooked(mask, 0, fib, 8))
  print(mask, hooked(mask, 0, loop, 30))
  print(mask, hooked(mask, 0, tail, 12))
end
for _, n in ipairs { 1, 7, 100 } do print(n, hooked("", n, fib, 9)) print(n, hooked("", n, loop, 200)) end

-- Set and taken away in the middle of a recursion.
local seen
local function switched(n, on, off)
  if n == on then debug.sethook(function(event, line) seen = seen + 1 end, "c") end
  if n == off then debug.sethook() end
  if n == 0 then return 0 end
  local r = switched(n - 1, on, off)
  return r + 1
end
for on = 20, 0, -5 do
  seen = 0
  local r
  for round = 1, 4 do r = switched(20, on, on - 3) end
  debug.sethook()
  print(on, r, seen)
end

-- A hook that sees the depth, and one that changes a local of the function that it interrupts.
local deepest
local function depth()
  local d = 0
  while debug.getinfo(d + 2, "l") do d = d + 1 end
  return d
end
for n = 1, 9, 4 do
  deepest = 0
  debug.sethook(function() local d = depth() if d > deepest then deepest = d end end, "c")
  local r = fib(n)
  debug.sethook()
  print(n, r, deepest)
end
local function counted(n)
  local s = 0
  for i = 1, n do
    local bonus = 0
    s = s + i
    s = s + bonus
  end
  return s
end
print(counted(200))
local line = debug.getinfo(counted, "S").linedefined + 4
local hits = 0
debug.sethook(function(event, l)
  if l == line then
    hits = hits + 1
    if hits % 5 == 0 then
      for i = 1, 9 do
        local name = debug.getlocal(2, i)
        if name == "bonus" then debug.setlocal(2, i, hits % 10 == 0 and 0.5 or 100) end
      end
    end
  end
end, "l")
print(counted(40))
debug.sethook()
print(counted(40), hits)

-- A hook that throws out of a recursion after so many instructions; the function is as it was afterwards.
for _, limit in ipairs { 50, 500, 5000 } do
  local ok, e
  for round = 1, 3 do
    debug.sethook(function() error("stopped", 0) end, "", limit)
    ok, e = pcall(fib, 30)
    debug.sethook()
  end
  print(limit, ok, e, fib(10))
end
-- In coroutines: each has its own hook.
local co = coroutine.create(function(n)
  local a = fib(n)
  coroutine.yield(a)
  return fib(n + 1)
end)
local in_co = 0
debug.sethook(co, function() in_co = in_co + 1 end, "c")
print(coroutine.resume(co, 9))
print(fib(9), in_co)
print(coroutine.resume(co))
print(in_co, debug.gethook(co) ~= nil, debug.gethook() == nil)
