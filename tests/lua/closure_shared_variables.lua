-- Variables that two or more closures share: counters, queues, a bank account, closures made in turn, by two
-- levels of functions, and read by the frame that made them; joined and parted through a table of closures.
local function counter(start)
  local n = start
  local function up(d) n = n + (d or 1) return n end
  local function down(d) n = n - (d or 1) return n end
  local function get() return n end
  return up, down, get
end
local ups, downs, gets = {}, {}, {}
for i = 1, 10 do ups[i], downs[i], gets[i] = counter(i % 3 == 0 and i / 2 or i) end
local sum = 0
for round = 1, 200 do
  local i = round % 10 + 1
  ups[i]()
  if round % 4 == 0 then downs[i](round % 7) end
  if round % 50 == 0 then ups[i]("1") end
  sum = sum + gets[i]()
end
print(sum, gets[1](), gets[3](), gets[9](), gets[10]())

local function queue()
  local first, last, items = 1, 0, {}
  return {
    push = function(x) last = last + 1 items[last] = x end,
    pop = function()
      if first > last then return nil end
      local x = items[first]
      items[first] = nil
      first = first + 1
      return x
    end,
    size = function() return last - first + 1 end,
  }
end
local q, total = queue(), 0
for i = 1, 1000 do
  q.push(i % 10 == 0 and i / 4 or i)
  if i % 3 == 0 then total = total + q.pop() + (q.size() > 100 and q.pop() or 0) end
end
print(total, q.size(), q.pop(), q.pop())
while q.pop() do end
print(q.size(), q.pop())

-- The frame reads and writes between the calls of the closures.
local function frame(n)
  local x, y, log = 0, 1, {}
  local function a() x = x + y end
  local function b() y = y + x return y end
  for i = 1, n do
    a()
    x = x % 1000
    if i % 3 == 0 then b() y = y % 100 end
    if i % 7 == 0 then a, b = function() x = x + 2 * y end, function() y = x return y end end
    if i % 11 == 0 then x = x + 0.5 end
    log[#log + 1] = x
  end
  return x, y, log[n // 2], a, b
end
for n = 2, 62, 12 do
  local x, y, z, a, b = frame(n)
  a()
  print(n, x, y, z, b(), b())
end

-- One variable, three levels of functions; each level has closures of its own.
local function outer()
  local v = 0
  local function middle(k)
    local w = k
    v = v + 1
    return function(d)
      v, w = v + d, w + v
      return v, w
    end, function() return v * 1000 + w end
  end
  return middle, function() return v end
end
local middle, value = outer()
local pairs_of = {}
for k = 1, 12 do
  local add, get = middle(k)
  pairs_of[k] = { add, get }
  for j = 1, k do pairs_of[j][1](j % 2 == 0 and 0.5 or 1) end
  if k % 3 == 0 then print(k, value(), get(), pairs_of[1][2]()) end
end

-- A list of closures in which each changes what the one before has left.
local function chain(n)
  local x = 1
  local list = {}
  for i = 1, n do
    local before = list[i - 1]
    list[i] = function()
      local s = before and before() or 0
      x = (x * 3 + i) % 1009
      return s + x
    end
  end
  return list[n], function(v) x = v end
end
for n = 1, 40, 13 do
  local f, set = chain(n)
  local a, b = f(), f()
  set(0.5)
  print(n, a, b, f())
end
