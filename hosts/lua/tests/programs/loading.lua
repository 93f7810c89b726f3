-- Code made at run time: load, string.dump, environments, many short-lived functions.
local total = 0
for i = 1, 60 do
  local f = assert(load("local a, b = ... local s = 0 for k = 1, " .. i .. " do s = s + a * k - b end return s"))
  total = total + f(i, 2)
  if i % 10 == 0 then collectgarbage() end
end
print(total)
local source = function(n, ...)
  local t, extra = {}, select("#", ...)
  for k = 1, n do t[k] = k * extra end
  return #t, t[n]
end
for i = 1, 20 do
  local copy = load(string.dump(source, i % 2 == 0))
  print(copy(i + 5, 1, 2, 3))
end
local environment = setmetatable({ count = 0 }, { __index = _G })
local chunk = load("for i = 1, 30 do count = count + i; last = tostring(i) end return count, last", "chunk", "t", environment)
print(chunk()) print(chunk()) print(environment.count, rawget(_G, "count"))
local pieces = { "return ", "1 + ", "2 * ", "21" }
local n = 0
print(load(function() n = n + 1; return pieces[n] end)())
print(load("syntax error here"))
local hooks = 0
debug.sethook(function() hooks = hooks + 1 end, "", 100)
for i = 1, 2000 do n = n + i end
debug.sethook()
print(hooks > 10, n, debug.gethook())
local lines = {}
debug.sethook(function(_, line) lines[#lines + 1] = line end, "l")
for i = 1, 3 do
  n = n + i
end
debug.sethook()
print(table.concat(lines, " "))
local calls = 0
local function callee(x) return x end
for round = 1, 3 do
  for i = 1, 50 do n = n + callee(i) end
  debug.sethook(function() calls = calls + 1 end, "cr")
  for i = 1, 20 do n = n + callee(i) end
  debug.sethook()
end
print(calls, n, select(2, debug.gethook()))
