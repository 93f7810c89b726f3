-- Loops in coroutines: shared code on different stacks, yields from inside loops, stacks that move.
local function gen(n)
  return coroutine.wrap(function()
    local s = 0
    for i = 1, n do
      for j = 1, 5 do s = s + i * j end
      coroutine.yield(s)
    end
    return "end"
  end)
end
local a, b = gen(6), gen(8)
for i = 1, 6 do io.write(a(), " ", b(), " ") end
print(a())
local function sum(n) local s = 0; for i = 1, n do s = s + i end return s end
local threads = {}
for i = 1, 5 do threads[i] = coroutine.create(function(n) return sum(n), coroutine.yield(sum(n + 1)) end) end
for i = 1, 5 do io.write(tostring(select(2, coroutine.resume(threads[i], i * 10))), " ") end
for i = 1, 5 do io.write(tostring(select(2, coroutine.resume(threads[i], i))), " ") end
print()
local function deep(n) if n == 0 then return sum(20) end return deep(n - 1) + 0 end
print(coroutine.wrap(function() return deep(150) + sum(10) end)())
local upvalue = 0
local co = coroutine.wrap(function() for i = 1, 10 do upvalue = upvalue + i; if i % 5 == 0 then coroutine.yield(upvalue) end end return upvalue end)
print(co(), co(), co())
local shared = coroutine.wrap(function()
  local n = 0
  local function inc() for i = 1, 10 do n = n + 1 end return n end
  coroutine.yield(inc)
  return n
end)
local inc = shared()
print(inc(), inc(), shared(), inc())
