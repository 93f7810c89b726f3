-- Units that call other units, with frames of both when one is left; helpers that are taken in; units for
-- other types of the same function; a unit that calls one that is not there any more.
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local function fact(n) if n < 2 then return 1 end return n * fact(n - 1) end
local mode = 0
local function twist(n)
  if n == 3 and mode == 1 then return 0.5 elseif n == 2 and mode == 2 then return nil end
  return 1
end
local function inner(n)
  if n <= 0 then return 0 end
  return inner(n - 1) + twist(n)
end
local function outer(n)
  if n <= 0 then return inner(4) end
  return outer(n - 1) + inner(n % 5) * 2
end
local function top(n)
  if n <= 0 then return 0 end
  local r = top(n - 2)
  return r + outer(n) + fib(n % 7) + fact(n % 6)
end
for i = 1, 40 do
  mode = i > 20 and i % 3 or 0
  local ok, r = pcall(top, i % 11)
  io.write(ok and r or r:gsub(".*: ", ""), i % 8 == 0 and "\n" or " ")
end
mode = 0
print(top(20), outer(9), inner(9), top(9.0), outer(9.0), inner(9.5))

-- Frames of all levels are seen when the innermost one is left.
local function frames(level)
  local list = {}
  while true do
    local info = debug.getinfo(level, "Sl")
    if not info or info.what ~= "Lua" then break end
    local _, value = debug.getlocal(level, 1)
    list[#list + 1] = info.currentline .. "/" .. tostring(value)
    level = level + 1
  end
  return table.concat(list, " ")
end
local wanted
local function low(n)
  if n == 0 then if wanted then print(frames(2)) end return 1 end
  return low(n - 1) + 1
end
local function middle(n)
  if n == 0 then return low(3) end
  local a = low(n)
  return a + middle(n - 1)
end
local function high(n)
  if n == 0 then return middle(2) end
  local x = high(n - 1)
  return x + middle(n % 3)
end
for i = 1, 30 do high(i % 6) end
for i = 1, 3 do
  wanted = true
  local r = high(i)
  wanted = false
  print(r, high(i))
end
local function callee(n) if n == 0 then return 0 end return callee(n - 1) + 1 end
local function caller(n) if n == 0 then return callee(5) end return caller(n - 1) + callee(n) end
for i = 1, 20 do caller(i % 7) end
local saved = callee
callee = function(n) return n * 1000 end
print(caller(4))
callee = nil
print(pcall(caller, 4))
callee = setmetatable({}, { __call = function(_, n) return saved(n) + 0.5 end })
print(caller(4))
callee = saved
print(caller(4))
collectgarbage()
local function made(k)
  local function f(n) if n == 0 then return k end return f(n - 1) + k end
  return f
end
local s = 0
for i = 1, 40 do
  local f = made(i % 4 == 0 and i + 0.5 or i)
  s = s + f(i % 6) + f(2)
  if i % 10 == 0 then f = nil collectgarbage() io.write(s, " ") end
end
print()
