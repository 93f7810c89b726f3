-- A recursive function is an upvalue that is assigned in the middle of the recursion: by the function itself,
-- by another one, and by a debug function; the levels above go on with the old one.
local f
local trace = {}
local function slow(n)
  trace[#trace + 1] = "s"
  if n == 0 then return 0 end
  return 1 + f(n - 1)
end
local function quick(n)
  trace[#trace + 1] = "q"
  if n == 0 then return 1000 end
  return f(n - 1) + 2
end
f = slow
for n = 1, 40 do f(n) end
trace = {}
for at = 0, 12, 4 do
  f = function(n)
    if n == at then f = quick end
    trace[#trace + 1] = "w"
    if n == 0 then return -1 end
    return f(n - 1) + 0.5
  end
  local r = f(12)
  print(at, r, table.concat(trace))
  trace = {}
end

-- A number that each level changes before and after the call below it.
local level, most = 0, 0
local function visit(n)
  level = level + 1
  if level > most then most = level end
  local r = n
  if n > 1 then r = visit(n // 2) + visit(n - n // 2) end
  level = level - 1
  return r + level
end
for n = 1, 300, 23 do print(n, visit(n), most, level) end

-- A type that changes at some depth: integer, float, text, table.
local acc = 0
local function add(n, at)
  if n == 0 then return end
  if n == at then acc = acc + 0.5 end
  acc = acc + n
  add(n - 1, at)
  acc = acc - 1
end
for at = 0, 12 do
  acc = 0
  for i = 1, 30 do add(10, at) end
  print(at, acc)
end
acc = "5"
add(10, 3)
print(acc)
acc = {}
print(pcall(add, 4, 0))
acc = nil
print(pcall(add, 4, 4))

-- Set from outside while a coroutine is in the middle of it.
local g
local function count(n)
  if n == 0 then return 0 end
  coroutine.yield(n)
  return 1 + g(n - 1)
end
local function twice(n)
  if n == 0 then return 0 end
  return 2 + g(n - 1)
end
for at = 1, 8 do
  g = count
  local co = coroutine.wrap(function() return "end", g(8) end)
  local out = {}
  while true do
    local a, b = co()
    if a == "end" then out[#out + 1] = "=" .. b break end
    out[#out + 1] = a
    if a == at then debug.setupvalue(count, 2, twice) end
  end
  print(at, table.concat(out, " "))
end
print((debug.getupvalue(count, 1)), (debug.getupvalue(count, 2)))
