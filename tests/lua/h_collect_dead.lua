-- Objects that only a dead register holds are let go in the end, those that a live one holds are not.
local function is_gone(limit, f)
  for n = 1, limit do
    if f() then return true end
    collectgarbage()
  end
  return false
end
local gone = 0
local function object() return setmetatable({}, { __gc = function() gone = gone + 1 end }) end
for i = 1, 60 do
  local x = object()
  x.i = i
  collectgarbage("step")
end
print(is_gone(3, function() return gone >= 59 end))
-- A loop that waits for a finalizer of what it has just dropped.
for round = 1, 6 do
  local done = false
  do
    local x = setmetatable({}, { __gc = function() done = true end })
    x.y = x
  end
  local waited = 0
  while not done and waited < 1000 do
    local t = { waited }
    pcall(collectgarbage)
    waited = waited + #t
  end
  print(round, done)
end
-- Live ones survive calls: arguments, operands, and what an inlined function holds.
local weak = setmetatable({}, { __mode = "k" })
local function keep(t, f) collectgarbage() return f(t) end
local function inner(i)
  local t = { i }
  weak[t] = true
  local r = keep({ t, i }, function(p) return p[1][1] + p[2] end)
  pcall(collectgarbage)
  return r + (weak[t] and 1 or 1000)
end
local s = 0
for i = 1, 40 do s = s + inner(i) end
print(s)
-- A finalizer sets globals and upvalues that the loop reads.
local seen = 0
flag = 0
local function drop() setmetatable({}, { __gc = function() flag = flag + 1 seen = seen - 1 end }) end
local sum = 0
for i = 1, 30 do
  drop()
  collectgarbage()
  sum = sum + flag * 2 + seen
end
print(sum > 0, flag >= 29, flag + seen)
