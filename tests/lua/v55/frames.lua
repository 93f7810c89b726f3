-- Calls that leave words in frames: '__call' counts as an argument more, tail calls, coroutines, pcall.
-- Variables to be closed.
local callable = setmetatable({}, { __call = function(self, x) return x + debug.getinfo(1, 't').extraargs end })
local sum = 0
for i = 1, 200 do sum = sum + callable(i) end
print(sum)
local twice = setmetatable({}, { __call = callable })
print(pcall(twice, 1))
local function info() return debug.getinfo(1, 't').istailcall, debug.getinfo(1, 't').extraargs end
local function tail(n) if n > 0 then return tail(n - 1) end return info() end
for i = 1, 100 do
  local is_tail, extra = tail(i % 5)
  if i % 25 == 0 then print(is_tail, extra, (info())) end
end
local generator = coroutine.wrap(function(a, ...t)
  for i = 1, 300 do a = a + coroutine.yield(a, t.n) end
  return 'end'
end)
local last
for i = 1, 301 do last = generator(i, i, i) end
print(last)
local log = {}
local function closing(n)
  local x <close> = setmetatable({}, { __close = function(_, e) log[#log + 1] = n .. tostring(e) end })
  if n % 7 == 0 then error('at ' .. n, 0) end
  return n
end
for i = 1, 100 do
  local ok, what = pcall(closing, i)
  sum = sum + (ok and what or #what)
end
print(sum, #log, log[7], log[8])
print(pcall(error), pcall(error, nil))
local function deep(n) return n == 0 and 0 or 1 + deep(n - 1) end
for i = 1, 50 do sum = sum + deep(i * 3) end
print(sum, select(2, pcall(function() local function f() return 1 + f() end return f() end)):match('stack overflow'))
local co = coroutine.wrap(function() local a <close> = setmetatable({}, { __close = function() coroutine.yield('closing') end }) return 'done' end)
print(co(), co())
for i = 1, 100 do
  local c = coroutine.create(function() coroutine.yield(i) end)
  coroutine.resume(c)
  sum = sum + (coroutine.close(c) and 1 or 0)
end
print(sum)
