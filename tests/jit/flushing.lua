-- Code is taken back while it runs, and made again; what is computed is what it was.
local jit = require "jit"

local function fib(n)
  if n == 3 and jit_flushes then jit.flush(fib) end
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end
jit_flushes = false
for _ = 1, 30 do assert(fib(12) == 144) end
jit_flushes = true
for _ = 1, 5 do assert(fib(12) == 144) end
jit_flushes = nil

-- From the loop itself, from a function that it calls, from a metamethod, from a coroutine, after an error.
local function inner(n)
  local s = 0
  for i = 1, n do s = s + (i & 3) end
  return s
end
local object = setmetatable({}, { __index = function(_, key)
  if key % 64 == 0 then jit.flush() end
  return key
end })
local waits = coroutine.wrap(function()
  for i = 1, math.huge do
    if i % 50 == 0 then jit.flush(inner) end
    coroutine.yield(i)
  end
end)
local total = 0
local function work(i)
  total = total + inner(30) + object[i] + waits()
  if i % 70 == 0 then
    pcall(function() jit.flush(true, true) error("x") end)
  end
  if i % 90 == 0 then jit.flush(work) end
end
for i = 1, 1200 do
  work(i)
  if i % 200 == 0 then jit.flush() end
end
print(total)

-- Functions that are freed, and others at their addresses.
for round = 1, 60 do
  local f = load("local s = 0 for i = 1, 40 do s = s + i * " .. round .. " end return s")
  assert(f() == 820 * round)
  if round % 7 == 0 then jit.flush(f) end
  if round % 9 == 0 then jit.off(f) assert(f() == 820 * round) end
  if round % 11 == 0 then collectgarbage() end
end
collectgarbage()
local s = 0
for i = 1, 500 do s = s + inner(20) end
print(s)
