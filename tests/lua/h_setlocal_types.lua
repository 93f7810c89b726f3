-- A called function changes the types of its caller's locals: number, string, table, nil, function.
local values = { 1, 2.5, "7", false, 0 }
local function poke(k)
  local name, old = debug.getlocal(2, 2)
  assert(name == "x", name)
  if k then debug.setlocal(2, 2, values[k]) end
  return old
end
local function run(n)
  local x = 1
  local log = {}
  for i = 1, n do
    local old = poke(i % 4 == 0 and i // 4 or nil)
    log[#log + 1] = tostring(old)
    if type(x) == "number" then x = x + 1 elseif type(x) == "string" then x = x .. i end
  end
  return x, table.concat(log, ",")
end
for round = 1, 8 do print(round, run(round * 3)) end
-- Through pcall, a metamethod, a comparator.
local function twice(i)
  local a, b = i, 0
  local t = setmetatable({}, { __add = function(_, k) debug.setlocal(2, 2, k * 10) return k end })
  for j = 1, 5 do
    local c = t + j
    b = b + c
    pcall(function() debug.setlocal(3, 2, b + 1) end)
  end
  table.sort({ 3, 1, 2 }, function(p, q) debug.setlocal(3, 1, i + 100) return p < q end)
  return a, b
end
for i = 1, 10 do print(i, twice(i)) end
-- In another thread, which waits in a loop.
local co = coroutine.create(function()
  local acc = 0
  for i = 1, 20 do
    local got = coroutine.yield(acc)
    acc = acc + got
  end
  return acc
end)
for i = 1, 12 do
  local ok, acc = coroutine.resume(co, i)
  if i % 5 == 0 then
    print(debug.setlocal(co, 1, 1, acc * 100))
  end
  print(i, ok, acc)
end
