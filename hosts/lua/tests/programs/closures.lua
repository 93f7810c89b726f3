-- Captured variables: fresh per iteration, shared, nested, written from both sides.
local functions = {}
for i = 1, 20 do
  local doubled = i * 2
  functions[#functions + 1] = function(n) doubled = doubled + n; return i + doubled end
end
local sum = 0
for round = 1, 5 do
  for _, f in ipairs(functions) do sum = sum + f(round) end
end
print(sum)
local function counter(start)
  local value = start
  return { add = function(n) value = value + n end, get = function() return value end }
end
local counters = {}
for i = 1, 10 do counters[i] = counter(i) end
for i = 1, 50 do
  local c = counters[i % 10 + 1]
  c.add(i)
  if i % 10 == 0 then print(i, c.get()) end
end
local function outer(n)
  local total = 0
  local function inner(k)
    if k == 0 then return total end
    total = total + k
    return inner(k - 1)
  end
  for i = 1, n do
    local before = total
    inner(i)
    if total - before ~= i * (i + 1) // 2 then return "wrong" end
  end
  return total
end
print(outer(30))
local x = 0
local function bump() x = x + 1; return x end
for i = 1, 30 do
  local y = x
  if bump() ~= y + 1 then print("wrong", i) end
  x = x + (i % 2)
end
print(x)
local captured
for i = 1, 12 do
  local a, b = i, i + 1
  do
    local c = a + b
    captured = function() c = c + 1; return a, b, c end
    if i % 3 == 0 then goto skip end
    a = a * 10
  end
  ::skip::
  print(captured())
end
local k = 0
while k < 10 do
  k = k + 1
  local copy = k
  functions[k] = function() copy = copy * 2; return copy end
  if k == 7 then break end
end
for i = 1, 7 do io.write(functions[i](), " ", functions[i](), " ") end
print()
