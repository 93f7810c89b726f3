-- Loops of two ways, of which each changes what the other, or the loop's beginning, has looked at: lengths,
-- metatables, arrays that are replaced, variables, the step of a nest. Which way is recorded first differs.

local function coin(seed)
  return function()
    seed = (seed * 1103515245 + 12345) % 2147483648
    return seed // 65536 % 2
  end
end

local function bits(n, seed)
  local next, t = coin(seed), {}
  for i = 1, n do t[i] = next() end
  return t
end

-- Nothing but items is written: the beginning of the loop may stay as it was.
local a, b = {}, {}
for i = 1, 400 do a[i], b[i] = 0, 0 end
local function arms(b01, n)
  local s, t = 0, 0
  for i = 1, n do
    if b01[i] == 0 then s = s + i; a[i] = s & 255 else t = t + 3 * i; b[i] = t & 127 end
  end
  return s, t
end
for first = 0, 1 do
  local same = {}
  for i = 1, 400 do same[i] = first end
  for _ = 1, 20 do arms(same, 400) end
  local s, t
  for round = 1, 30 do s, t = arms(bits(400, round), 400) end
  print(first, s, t, a[17], b[18])
end

-- One way makes the list longer that the loop goes through.
local list = {}
local function grow(b01, n)
  local s = 0
  for i = 1, n do
    if b01[i] == 0 then list[#list + 1] = i else s = s + (list[#list] or 0) end
  end
  return s
end
for round = 1, 30 do io.write(grow(bits(120, round), 120), " ") end
print(#list)

-- One way gives the table that the other writes a metatable, or takes it away.
local log = {}
local target = {}
local watch = { __newindex = function(t, k, v) log[#log + 1] = k; rawset(t, k, v) end }
local function watched(b01, n, from)
  for i = 1, n do
    if b01[i] == 0 then
      target[from + i] = i
    elseif i % 7 == 0 then
      setmetatable(target, getmetatable(target) == nil and watch or nil)
    end
  end
end
for round = 1, 30 do watched(bits(150, round), 150, round * 200) end
print(#log, log[1], log[#log])

-- One way replaces the table in a field, and one the function that is called.
local box = { items = { 1, 2, 3 }, n = 0 }
local function plain(x) return x end
local function twice(x) return 2 * x end
local call = plain
local function replaced(b01, n)
  local s = 0
  for i = 1, n do
    if b01[i] == 0 then
      s = s + call(box.items[i % 3 + 1])
    else
      box.n = box.n + 1
      if box.n % 50 == 0 then box.items = { s % 10, i, box.n } end
      if box.n % 70 == 0 then call = call == plain and twice or plain end
    end
  end
  return s
end
for round = 1, 30 do io.write(replaced(bits(200, round), 200), " ") end
print(box.n)

-- A nest whose inner loop has few iterations, and a step that changes.
local function nest(b01, n, step)
  local s = 0
  for i = 1, n, step do
    for j = 1, b01[i] * 3 + b01[i + 1] do s = s + i * j end
    if s % 5 == 0 then s = s - 1 end
  end
  return s
end
for round = 1, 30 do io.write(nest(bits(201, round), 200, round % 3 + 1), " ") end
print()

-- A variable that is an integer until one way makes it a float.
local function widens(b01, n)
  local s, t = 0, 0
  for i = 1, n do
    if b01[i] == 0 then s = s + i else t = t + (i > n - 5 and 0.5 or 1) end
  end
  return s, t
end
for round = 1, 30 do io.write(table.concat({ widens(bits(100, round), 100) }, " "), " ") end
print()
