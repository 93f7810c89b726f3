-- Hooks set while a loop runs: by the loop, by an inlined callee, by the hook itself, per coroutine; lines and counts are exact.
local lines = {}
local function note(_, line) lines[#lines + 1] = line end
local s = 0
for i = 1, 60 do
  s = s + i
  if i == 40 then debug.sethook(note, "l") end
  if i == 43 then debug.sethook() end
end
print(s, #lines, table.concat(lines, " "))
local function on() debug.sethook(function() s = s + 1000 end, "", 7) end
local function off() debug.sethook() end
local function maybe(i) if i == 50 then on() elseif i == 70 then off() end return i end
for i = 1, 100 do s = s + maybe(i) end
print(s)
local calls, returns, tails = 0, 0, 0
local function callee(x) if x > 2 then return x end return callee(x + 1) end
for i = 1, 60 do
  if i == 30 then
    debug.sethook(function(e)
      if e == "call" then calls = calls + 1 elseif e == "return" then returns = returns + 1 else tails = tails + 1 end
    end, "cr")
  end
  callee(i % 3)
  if i == 45 then debug.sethook() end
end
print(calls, returns, tails)
-- The hook removes itself.
local fired = 0
debug.sethook(function() fired = fired + 1; if fired == 3 then debug.sethook() end end, "", 50)
for i = 1, 300 do s = s + 1 end
print(fired, s)
-- The hook throws out of a compiled loop, twice.
for round = 1, 2 do
  local i = 0
  local ok, e = pcall(function()
    for k = 1, 1e9 do i = k; if k == 60 then debug.sethook(function() debug.sethook(); error("stop " .. round, 0) end, "", 1000) end end
  end)
  print(ok, e, i > 60, i < 2000)
end
-- A hook belongs to its thread.
local inside = 0
local co = coroutine.create(function()
  local q = 0
  for i = 1, 60 do q = q + i; if i % 20 == 0 then coroutine.yield(q) end end
  return "end"
end)
debug.sethook(co, function() inside = inside + 1 end, "", 1)
while coroutine.resume(co) and coroutine.status(co) ~= "dead" do for i = 1, 30 do s = s + 1 end end
print(inside, s, debug.gethook() == nil, debug.gethook(co) ~= nil)
-- The hook changes the loop's variable.
local x, changed = 0, 0
debug.sethook(function()
  local name, v
  for n = 1, 20 do
    name, v = debug.getlocal(2, n)
    if name == "target" and v == 33 then debug.setlocal(2, n, 1000.5); changed = changed + 1 end
  end
end, "l")
do
  local target = 0
  for i = 1, 60 do
    target = target + 1
  end
  x = target
end
debug.sethook()
print(x, changed)
