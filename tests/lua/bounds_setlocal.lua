-- The debug library changes a loop's hidden values, its variable and its array while the loop runs.
local function array(n)
  local t = {}
  for i = 1, n do t[i] = i end
  return t
end

-- The number of a local of the caller, by name and by how many of that name come before.
local function place(level, name, before)
  before = before or 0
  for n = 1, 200 do
    local found = debug.getlocal(level + 1, n)
    if not found then return nil end
    if found == name then
      if before == 0 then return n end
      before = before - 1
    end
  end
end

local function run(at, which, value, length)
  local t, s = array(length), 0
  for i = 1, 120 do
    s = s + (t[i] or 1000)
    if i == at then
      local n = place(1, "(for state)", which)
      debug.setlocal(1, n, value)
    end
    if s > 100000000 then break end
  end
  return s
end
for round = 1, 12 do
  -- The index is put back and forth, the counter made shorter and longer; the step changes.
  print(run(100, 0, 20, 120), run(30, 0, 90, 120), run(30, 0, 118, 120), run(40, 0, -10, 120))
  print(run(60, 1, 3, 120), run(60, 1, 100, 120), run(119, 1, 30, 160), run(10, 1, 0, 120))
  print(run(50, 2, 2, 120), run(50, 2, -1, 120), run(50, 2, 5, 300), run(200, 2, 9, 120))
end

local function variable(at, value)
  local t, s = array(100), 0
  for i = 1, 100 do
    if i == at then debug.setlocal(1, place(1, "i"), value) end
    s = s + (t[i] or 1000)
  end
  return s
end
local function other_array(at, length)
  local t, s = array(100), 0
  for i = 1, 100 do
    s = s + (t[i] or 1000)
    if i == at then debug.setlocal(1, place(1, "t"), array(length)) end
  end
  return s
end
for round = 1, 10 do
  print(variable(50, 1), variable(50, 200), variable(99, -4), other_array(70, 80), other_array(20, 100), other_array(99, 0))
end

-- From a hook, at any line.
local t, s, lines = array(150), 0, 0
local function body()
  for i = 1, 150 do
    s = s + (t[i] or 1000)
    s = s + (t[i - 1] or 1)
  end
end
debug.sethook(function()
  lines = lines + 1
  if lines == 120 then t = array(30) elseif lines == 200 then t = array(149) end
end, "l")
body()
debug.sethook()
print(s)
body()
body()
print(s)
