-- Loops with much to compute before a call that no trace can make: the trace ends there, and the interpreter makes the call.
local lines = {}
for n = 1, 24 do
  lines[n] = string.format("a = a + b * %d; b = b ~ a; c[%d] = (c[%d] or 0) + a %% %d; if a > 1 << 40 then a = a & 0xffff end\n",
                           n, n % 5 + 1, (n + 2) % 5 + 1, n + 1)
end
local body = table.concat(lines)

-- Output on each iteration.
local chunk = load([[
local a, b, c = 1, 2, { 1, 2, 3, 4, 5 }
for i = 1, 80 do
  ]] .. body .. [[
  io.write(i % 10, i % 40 == 0 and "\n" or "")
end
return a, b, c[1] + c[2] + c[3] + c[4] + c[5]
]])
print(chunk())

-- A call in a function that the loop calls, with results that the rest of the iteration needs; two paths lead to it.
local yield = load([[
local a, b, c = 3, 5, { 5, 4, 3, 2, 1 }
local function ask (x) if x % 2 == 0 then return (coroutine.yield(x)) end local y = coroutine.yield(-x) return y + 1 end
local sum = 0
for i = 1, 90 do
  ]] .. body .. [[
  sum = sum + ask(i)
end
return a, b, sum
]])
local co = coroutine.create(yield)
local ok, value = coroutine.resume(co)
local asked = 0
while coroutine.status(co) ~= "dead" do
  asked = asked + value
  ok, value = coroutine.resume(co, asked % 7)
end
print(ok, value, asked)

-- An error thrown by the call at last: message and line are the interpreter's.
local fails = load([[
local a, b, c = 1, 1, { 0, 0, 0, 0, 0 }
for i = 1, 70 do
  ]] .. body .. [[
  local ok = pcall(error, i)
  if i == 66 then error("at " .. i .. ": " .. a) end
end
]], "=fails")
print(pcall(fails))

-- Objects made before the call, which the call sees.
local objects = load([[
local a, b, c = 1, 1, { 0, 0, 0, 0, 0 }
local seen = 0
for i = 1, 75 do
  local o = { a = i }
  ]] .. body .. [[
  local ok, n = pcall(rawget, o, "a")
  o.a = o.a + n
  seen = seen + o.a + select(2, pcall(rawlen, c))
end
return seen, a
]])
print(objects())
