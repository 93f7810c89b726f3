-- Debug hooks set and removed around and inside loops: counts and lines are as in the interpreter.
local lines = 0
local function busy(n) local s = 0; for i = 1, n do s = s + i end return s end
print(busy(30))
debug.sethook(function() lines = lines + 1 end, "l")
local x = busy(30)
debug.sethook()
print(x, lines)
local ticks = 0
debug.sethook(function() ticks = ticks + 1 end, "", 10)
x = busy(50)
debug.sethook()
print(x, ticks)
local s = 0
for i = 1, 40 do
  s = s + i
  if i == 20 then debug.sethook(function() lines = lines + 1 end, "l") end
  if i == 25 then debug.sethook() end
end
print(s, lines)
print(pcall(function()
  debug.sethook(function() debug.sethook(); error("interrupted") end, "", 100)
  while true do s = s + 1 end
end))
print(s > 820)
local calls = 0
debug.sethook(function() calls = calls + 1 end, "c")
for i = 1, 10 do busy(2) end
debug.sethook()
print(calls, debug.gethook())
