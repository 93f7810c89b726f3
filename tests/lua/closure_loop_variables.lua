-- Closures over loop variables: of numeric loops with integers and floats, of generic loops, of locals in
-- while and repeat; each iteration has its own; assigned before and after the capture, by both sides.
local function numeric(n, step)
  local list = {}
  for i = 1, n, step do
    list[#list + 1] = function(d) i = i + d return i end
  end
  return list
end
for _, step in ipairs { 1, 2, 0.5, -1 } do
  local list = numeric(step < 0 and -20 or 20, step)
  local s = 0
  for round = 1, 5 do
    for k, f in ipairs(list) do s = s + f(round % 2 == 0 and 1 or 0.25) * k end
  end
  print(step, #list, s, list[1](0), list[#list](0))
end

local function generic(t)
  local getters, setters = {}, {}
  for k, v in ipairs(t) do
    local twice = v
    getters[k] = function() return k, v, twice end
    setters[k] = function(x) v = x twice = twice + x end
    twice = twice * 2
    if k % 3 == 0 then v = v + 0.5 end
  end
  return getters, setters
end
local t = {}
for i = 1, 60 do t[i] = i * 3 end
local get, set = generic(t)
local sum = 0
for i = 1, 60 do
  local k, v, w = get[i]()
  sum = sum + k * v + w
  set[i](i)
  k, v, w = get[i]()
  sum = sum + k * v + w
  if i % 15 == 0 then print(i, k, v, w, sum) end
end

local function with_while(n)
  local out, i = {}, 0
  while i < n do
    i = i + 1
    local j = i
    out[#out + 1] = function() j = j + i return j end
    if i % 4 == 0 then j = -j end
  end
  return out, function() i = i + 100 return i end
end
local list, more = with_while(40)
sum = 0
for round = 1, 3 do
  for _, f in ipairs(list) do sum = sum + f() end
  print(round, sum, more(), list[4](), list[5]())
end

local function with_repeat(n)
  local out, i = {}, 0
  repeat
    local x = i * i
    out[#out + 1] = function() return x + i end
    i = i + 1
  until x >= n and (function() x = x + 1 return x > n end)()
  return out
end
for n = 1, 200, 40 do
  list, sum = with_repeat(n), 0
  for _, f in ipairs(list) do sum = sum + f() end
  print(n, #list, sum, list[#list]())
end

-- Nested loops: the closure has variables of both, of which the outer ones are shared.
local function both(n)
  local out = {}
  for i = 1, n do
    local row = i * 10
    for j = i, n do
      local cell = row + j
      out[#out + 1] = function()
        row = row + 1
        cell = cell + row
        return cell + i * j
      end
    end
    row = row + 0.5
  end
  return out
end
for n = 1, 9, 2 do
  list, sum = both(n), 0
  for round = 1, 3 do
    for k = #list, 1, -1 do sum = sum + list[k]() end
  end
  print(n, #list, sum)
end
-- The loop goes on while its variable is changed by a closure: the count is not touched.
local count = 0
for i = 1, 2000 do
  local f = function() i = i * 2 end
  f()
  f()
  count = count + i
end
print(count)
