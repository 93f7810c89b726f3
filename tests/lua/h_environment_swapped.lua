-- Calls change the environment, the upvalues and the internal variables of loops that run.
local function globals_of(level)
  local f = debug.getinfo(level + 1, "f").func
  for n = 1, 20 do
    local name = debug.getupvalue(f, n)
    if name == "_ENV" then return f, n end
  end
end
local count = 0
local function replace(i)
  count = count + 1
  if i % 8 == 5 then
    local f, n = globals_of(2)
    local _, env = debug.getupvalue(f, n)
    local other = setmetatable({ y = i }, { __index = env })
    debug.upvaluejoin(f, n, load("x = 0 return x", "=other", "t", other), 1)
  end
  return 1
end
local function make() return load([[
  local replace, n = ...
  local s = 0
  x = 1
  for i = 1, n do
    x = x + replace(i)
    s = s + x + (y or 0)
    y = i
  end
  return s, x, y
]]) end
for round = 1, 5 do print(make()(replace, round * 9)) end
print(count, x, y)
-- The hidden variables of numeric and generic loops.
local function set_state(level, which, value)
  local seen = 0
  for n = 1, 60 do
    local name, old = debug.getlocal(level + 1, n)
    if not name then return end
    if name == "(for state)" then
      seen = seen + 1
      if seen == which then
        debug.setlocal(level + 1, n, value(old))
        return old
      end
    end
  end
end
local function numeric(n, at, which, value)
  local s, steps = 0, 0
  for i = 1, n do
    steps = steps + 1
    if i == at then set_state(1, which, value) end
    s = s + i
    if steps > 60 then break end
  end
  return s, steps
end
for at = 1, 24, 3 do
  print(at, numeric(24, at, 0, print))
  print(at, numeric(24, at, 1, function(v) return v + 10 end))
  print(at, numeric(24, at, 2, function(v) return v // 2 end))
  print(at, numeric(24, at, 3, function(v) return v + 1 end))
end
local function generic(n, at, which, value)
  local s = 0
  for i, v in ipairs(n) do
    if i == at then set_state(1, which, value) end
    s = s + i * v
  end
  return s
end
local list, other = {}, { 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100 }
for i = 1, 20 do list[i] = i end
for at = 1, 12, 2 do
  print(at, generic(list, at, 0, print))
  print(at, generic(list, at, 2, function() return other end))
  print(at, generic(list, at, 1, function() return next end))
end
