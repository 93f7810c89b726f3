-- Hooks that are set and removed in the midst of recursion, and locals that are changed from outside.
local events, on = 0, false
local function hook() events = events + 1 end
local function rec(n)
  if n == 0 then
    if on then debug.sethook(hook, "cr") end
    return 0
  end
  local r = rec(n - 1)
  return r + 1
end
for round = 1, 12 do
  on = round % 4 == 0
  local r = rec(20)
  debug.sethook()
  print(round, r, events)
end
local lines = 0
local function line_hook() lines = lines + 1 end
local function count_lines(n)
  if n == 10 then debug.sethook(line_hook, "l") end
  if n == 0 then debug.sethook() return 1 end
  local a = count_lines(n - 1)
  return a + 1
end
for round = 1, 10 do
  lines = 0
  io.write(count_lines(round + 8), ":", lines, " ")
end
print()
local function poke(n, depth)
  local kept = n * 2
  if n == 0 then
    debug.setlocal(depth + 1, 3, "changed")
    return 0
  end
  local r = poke(n - 1, depth)
  if type(kept) == "string" then return r .. kept end
  return type(r) == "string" and r .. kept or r + kept
end
for round = 1, 20 do io.write(tostring(poke(8, round % 7)), " ") end
print()
local function upvalues(n)
  local x = n
  local function get() return x end
  if n == 0 then return get end
  local below = upvalues(n - 1)
  x = x + below()
  return get
end
for round = 1, 12 do io.write(upvalues(round)(), " ") end
print()
