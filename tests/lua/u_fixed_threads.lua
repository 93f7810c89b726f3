-- Fixed variables in coroutines: open in another thread's stack, closed, and of a thread that is dead.
local function worker(n)
  local scale = n
  local function f(x) return x * scale end
  coroutine.yield(f)
  local s = 0
  for i = 1, 500 do s = s + f(i) end
  coroutine.yield(s)
  return f
end
local total, kept = 0, {}
for n = 1, 12 do
  local co = coroutine.create(worker)
  local _, f = coroutine.resume(co, n)
  for i = 1, 200 do total = total + f(i) end
  local _, s = coroutine.resume(co)
  total = total + s
  kept[n] = f
  if n % 2 == 0 then coroutine.resume(co) end
  if n % 3 == 0 then coroutine.close(co) end
end
collectgarbage()
for i = 1, 500 do total = total + kept[i % 12 + 1](i) end
print(total)
local gen = coroutine.wrap(function ()
  local base = 7
  local function plus(x) return x + base end
  for i = 1, 2000 do coroutine.yield(plus(i)) end
end)
local g = 0
for _ = 1, 2000 do g = g + gen() end
print(g)
-- a C function, a boolean, nil and a string as fixed variables
local floor, yes, nothing, word, tau = math.floor, true, nil, "abc", 6.5
local function mixed(x)
  if yes and nothing == nil then return floor(x / tau) + #word end
  return 0
end
local m = 0
for i = 1, 1500 do m = m + mixed(i) end
print(m)
