-- debug.getlocal and setlocal on frames with captured variables and on callers at each depth, debug.getinfo
-- of closures, and both while functions are hot: what is set must be seen by frame and closures alike.
local function set(level, name, v)
  local i = 1
  while true do
    local n = debug.getlocal(level + 1, i)
    if n == nil then return false end
    if n == name then return debug.setlocal(level + 1, i, v) end
    i = i + 1
  end
end
local function get(level, name)
  local found
  for i = 1, 50 do
    local n, v = debug.getlocal(level + 1, i)
    if n == nil then break end
    if n == name then found = v end
  end
  return found
end

local function captured(n)
  local x, y, s = 1, 2, 0
  local f = function() x = x + y return x end
  for i = 1, n do
    s = s + f()
    if i % 10 == 0 then set(1, "x", i) end
    if i % 25 == 0 then set(1, "y", i % 50 == 0 and 0.5 or 3) end
    s = s + x + y
    if i % 40 == 0 then s = s + get(1, "x") * 100 end
  end
  return s, x, y
end
for n = 10, 130, 30 do print(n, captured(n)) end

-- The callee sets a variable of a caller that is some levels up.
local function leaf(k, v) return set(k, "mine", v) end
local function level(n, k)
  local mine = n
  local get_mine = k % 2 == 0 and function() return mine end or nil
  local r = 0
  if n > 0 then r = level(n - 1, k) else leaf(k + 2, k + 0.25) end
  return r * 3 % 1009 + mine + (get_mine and get_mine() or 0)
end
for k = 0, 8 do
  local r
  for i = 1, 8 do r = level(9, k) end
  print(k, r)
end

-- getinfo of closures: lines, numbers of variables and parameters; the same for all closures of one function.
local function make(a, b, ...)
  local c = a
  return function(x, y) c = c + x return a, b, c end, function(...) return ... end
end
local f, g = make(1, 2)
for _, h in ipairs { f, g, make, set } do
  local i = debug.getinfo(h, "Su")
  print(i.linedefined, i.lastlinedefined, i.what, i.nups, i.nparams, i.isvararg)
end
local equal = 0
for i = 1, 40 do
  local h, other = make(i, i)
  local line = debug.getinfo(h, "S").linedefined
  if line == debug.getinfo(f, "S").linedefined and h ~= f then equal = equal + 1 end
  if i % 20 == 0 then print(i, equal, debug.getlocal(h, 1), debug.getlocal(h, 2), debug.getlocal(h, 3)) end
end

-- Variable arguments of a frame, by negative numbers; temporaries have names of their own.
local function vararg(...)
  local a = ...
  local name, v = debug.getlocal(1, -2)
  if name and v == 5 then debug.setlocal(1, -2, "set") end
  return a, (select(2, ...))
end
for i = 1, 60 do
  local a, b = vararg(i, i % 10)
  if i % 12 == 5 then print(i, a, b) end
end
print(vararg(1), debug.getlocal(vararg, 1))

-- A hot loop's own variables: limit and step cannot be reached by name, the control variable's copy can.
local function loop(n)
  local s = 0
  for i = 1, n do
    if i % 30 == 0 then set(1, "i", i * 1000) end
    s = s + i
    if i % 45 == 0 then set(1, "s", s / 2) end
  end
  return s
end
for n = 20, 200, 60 do print(n, loop(n)) end

-- Where a closure is at work: names of callers, current lines, through tail calls and methods.
local function where() return debug.getinfo(2, "l").currentline, debug.getinfo(2, "n").name end
local object = { run = function(self) local l, n = where() return l, n end }
local seen = {}
for i = 1, 40 do
  local act = function() local l, n = where() return l, n end
  local l1, n1 = act()
  local l2, n2 = object:run()
  seen[l1 .. tostring(n1) .. l2 .. tostring(n2)] = i
end
for k, v in pairs(seen) do print(k, v) end
