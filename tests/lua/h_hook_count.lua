-- Count hooks that are set inside calls count the instructions of stock Lua, whoever executes them.
local count = 0
local function on() debug.sethook(function() count = count + 1 end, "", 7) end
local function off() debug.sethook() end
local function loop(n, from, to)
  local s = 0
  for i = 1, n do
    if i == from then on() end
    s = s + i % 3
    if i == to then off() end
  end
  off()
  return s
end
for round = 1, 14 do
  count = 0
  local s = loop(round * 3, round % 4, 9)
  print(round, s, count)
end
-- One instruction each, and the hook takes itself away from within.
for round = 1, 10 do
  local seen, lines = 0, {}
  local function hook()
    seen = seen + 1
    lines[#lines + 1] = debug.getinfo(2, "l").currentline
    if seen == 9 + round % 3 then debug.sethook() end
  end
  local t = {}
  for i = 1, 6 do
    if i == 3 then debug.sethook(hook, "", 1) end
    t[i] = i * i
  end
  debug.sethook()
  print(round, seen, #t, table.concat(lines, " "))
end
