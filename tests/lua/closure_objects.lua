-- Objects made of closures: stacks, vectors, a bank with a log, a class with private state, memoizing and
-- counting wrappers, event handlers that add and remove one another, and lazy lists.
local function stack()
  local items, n = {}, 0
  local self = {}
  function self.push(...)
    for i = 1, select("#", ...) do
      n = n + 1
      items[n] = (select(i, ...))
    end
    return self
  end
  function self.pop()
    if n == 0 then return nil end
    local x = items[n]
    items[n] = nil
    n = n - 1
    return x
  end
  function self.size() return n end
  return self
end
local s, sum = stack(), 0
for i = 1, 300 do
  s.push(i, i * 0.5)
  if i % 3 == 0 then s.push("t" .. i).push(nil) end
  if i % 2 == 0 then
    local x = s.pop()
    sum = sum + (type(x) == "number" and x or x and #x or 0.125)
  end
end
print(sum, s.size(), s.pop(), s.pop(), s.pop())

local vector
function vector(x, y)
  local self
  self = {
    get = function() return x, y end,
    add = function(o)
      local ox, oy = o.get()
      x, y = x + ox, y + oy
      return self
    end,
    scale = function(k) return vector(x * k, y * k) end,
    length2 = function() return x * x + y * y end,
  }
  return self
end
local v, w = vector(1, 2), vector(0.5, -1)
for i = 1, 120 do
  v.add(w)
  if i % 10 == 0 then w.add(vector(i, 0).scale(0.5)) end
  if i % 40 == 0 then print(i, v.length2(), v.get()) end
end
local plain = vector
vector = function(x, y) return plain(y, x) end
print(v.scale(2).get())
print(v.scale(0.5).scale(-1).length2())

-- Wrappers around any function: counting, memory, order of calls.
local function counted(f)
  local calls = 0
  return function(...) calls = calls + 1 return f(...) end, function() return calls end
end
local function remembered(f)
  local memory = {}
  return function(x)
    local r = memory[x]
    if r == nil then r = f(x) memory[x] = r end
    return r
  end
end
local function square_sum(n) local t = 0 for i = 1, n do t = t + i * i end return t end
local slow, calls = counted(square_sum)
local quick = remembered(slow)
sum = 0
for i = 1, 500 do sum = sum + quick(i % 13) + (i % 50 == 0 and slow(i) or 0) end
print(sum, calls())

-- Handlers that remove themselves, add others, and are called while the list changes.
local function events()
  local list, next_id, fired = {}, 1, 0
  local function on(f)
    local id = next_id
    next_id = next_id + 1
    list[#list + 1] = { id = id, f = f }
    return function()
      for i = #list, 1, -1 do
        if list[i].id == id then table.remove(list, i) return true end
      end
      return false
    end
  end
  local function fire(x)
    fired = fired + 1
    local i, r = 1, 0
    while i <= #list do
      local h = list[i]
      r = r + h.f(x, fired)
      if list[i] == h then i = i + 1 end
    end
    return r, #list
  end
  return on, fire
end
local on, fire = events()
local hits = 0
on(function(x) hits = hits + 1 return x end)
local off
off = on(function(x, n)
  if n % 20 == 0 then off() end
  return x * 2
end)
on(function(x, n)
  if n % 25 == 0 then
    local gone
    gone = on(function(y, m)
      if m - n > 7 then gone() end
      return y / 4
    end)
  end
  return 0
end)
sum = 0
for i = 1, 200 do
  local r, count = fire(i % 11)
  sum = sum + r * count
  if i % 50 == 0 then print(i, sum, count, hits, off()) off = on(function(x) return -x end) end
end

-- Lazy lists: each rest is a closure that is called once.
local function lazy(head, rest)
  local done, value
  return { head = head, rest = function()
    if not done then done, value = true, rest() end
    return value
  end }
end
local function from(n) return lazy(n, function() return from(n + 1) end) end
local function map(f, l) return lazy(f(l.head), function() return map(f, l.rest()) end) end
local function keep(test, l)
  while not test(l.head) do l = l.rest() end
  return lazy(l.head, function() return keep(test, l.rest()) end)
end
local function primes(l)
  local p = l.head
  return lazy(p, function() return primes(keep(function(x) return x % p ~= 0 end, l.rest())) end)
end
local l, out = primes(from(2)), {}
for i = 1, 30 do out[i] = l.head l = l.rest() end
print(table.concat(out, " "))
local thirds = map(function(x) return x / 3 end, keep(function(x) return x % 5 == 0 end, from(1)))
sum = 0
for round = 1, 3 do
  local m = thirds
  for i = 1, 60 do sum = sum + m.head m = m.rest() end
end
print(string.format("%.6f", sum))
