-- Objects that go round in loops with several ways: each way makes a new one, none needs to exist. Two names
-- for one object, objects in objects, fields that another way adds, ways that let one escape, and a way on
-- which the loop's other variables change.

local seed = 42
local function random ()
  seed = (seed * 1103515245 + 12345) % 2147483648
  return seed // 65536
end

local bits = {}
for i = 1, 1024 do bits[i] = random() % 7 end

local function point (x, y) return {x = x, y = y} end

-- Two ways of one form.
local function two_ways (n)
  local p, a, b = point(0, 0), {}, {}
  for i = 1, n do
    local bit = bits[i % 1024 + 1]
    if bit < 4 then p = point(p.x + 1, p.y); a[i % 16] = p.x
    else p = point(p.x, p.y + 2); b[i % 16] = p.y end
  end
  return p.x, p.y, #a, #b
end

-- Twins: after one of the ways both names stand for one object.
local function twins (n)
  local p, q, sum = point(1, 2), point(3, 4), 0
  for i = 1, n do
    local bit = bits[i % 1024 + 1]
    if bit < 3 then p, q = point(p.x + 1, q.y), point(q.x, p.y + 1)
    elseif bit < 6 then p = point(p.x, p.y + 1); q = p
    else q = point(i, q.x) end
    if p == q then sum = sum + 1 end
    p.x = p.x + 1
    sum = sum + q.x % 3
  end
  return p.x, p.y, q.x, q.y, sum
end

-- Objects in objects, and one more field on a way.
local function chain (n)
  local list, depth = {next = {next = nil, value = 1}, value = 2}, 0
  for i = 1, n do
    local bit = bits[i % 1024 + 1]
    if bit < 3 then list = {next = {next = nil, value = list.value}, value = i}
    elseif bit == 5 then list = {next = {next = nil, value = i}, value = list.next.value, extra = i}
    else list = {next = {next = nil, value = list.next.value + 1}, value = list.value + 1} end
    if list.extra then depth = depth + list.extra % 5 end
  end
  return list.value, list.next.value, depth
end

-- One way lets the object escape, and what the loop does not change is changed there.
local function escapes (n)
  local p, kept, step, name = point(0, 0), {}, 1, "a"
  for i = 1, n do
    local bit = bits[i % 1024 + 1]
    if bit < 4 then p = point(p.x + step, p.y)
    elseif bit < 6 then p = point(p.x, p.y - step); step = step % 3 + 1; name = name == "a" and "b" or "a"
    else p = point(p.x, p.y); kept[#kept % 64 + 1] = p; p.y = p.y + 1 end
  end
  local sum = 0
  for i = 1, #kept do sum = sum + kept[i].x + kept[i].y end
  return p.x, p.y, sum, step, name
end

-- Floats and integers in one field, by turns.
local function kinds (n)
  local p, t = point(0, 0), 0
  for i = 1, n do
    local bit = bits[i % 1024 + 1]
    if bit < 4 then p = point(p.x + 1, i) elseif bit < 6 then p = point(p.y, p.x) else p = point(0.5, p.x) end
    if math.type(p.x) == "float" then t = t + 1 end
  end
  return p.x, p.y, t
end

-- Left in the middle by an error, with the objects in sight of a handler.
local function fails (n, at)
  local p = point(0, 0)
  local ok, message = pcall(function ()
    for i = 1, n do
      if bits[i % 1024 + 1] < 4 then p = point(p.x + 1, p.y) else p = point(p.x, p.y + 1) end
      if i == at then error({p = p, i = i}) end
    end
  end)
  return ok, ok and p.x or message.p.x + message.p.y - message.i, p.x, p.y
end

-- What is called in the loop looks at its variables, and lets the program wait: memory has to hold them.
local function calls (n)
  local p, seen, last = point(0, 0), 0, nil
  for i = 1, n do
    local x, y = p.x, p.y
    p = nil
    coroutine.yield(i)
    local name, value = debug.getlocal(1, 9)
    if name then last = name seen = seen + (math.tointeger(value) or 0) % 7 end
    if bits[i % 1024 + 1] < 4 then p = point(x + 1, y) else p = point(x, y + i) end
  end
  return p.x, p.y, seen, last
end

local function in_turns (n)
  local co, sum = coroutine.create(calls), 0
  while true do
    local ok, a, b, c, d = coroutine.resume(co, n)
    assert(ok, a)
    if coroutine.status(co) == "dead" then return sum, a, b, c, d end
    sum = sum + a
  end
end

for round = 1, 3 do
  print("two ways", two_ways(60000))
  print("twins", twins(60000))
  print("chain", chain(60000))
  print("escapes", escapes(60000))
  print("kinds", kinds(60000))
  print("fails", fails(60000, 60000 - round))
  print("calls", in_turns(20000))
end
