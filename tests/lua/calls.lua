-- Calls in a hot loop: parameters missing and surplus, several results, nested calls, upvalues of the loop's own frame.
local function half(x) return x / 2 end
local function two(x, y) return y, x end
local function none() end
local function nested(x) return half(x) + half(x + 1) end
local function tail(x) return half(x) end
local function all(x) return x, x + 1, x + 2 end
local function sum3(a, b, c) return a + b + (c or 100) end

local s = 0
for i = 1, 200 do s = s + half(i) end
print("half", s)

s = 0
for i = 1, 200 do
  local a, b, c = two(i, 2 * i)
  if c == nil then s = s + a - b end
end
print("two", s)

s = 0
for i = 1, 200 do local a = none(i, i) if not a then s = s + 1 end end
print("none", s)

s = 0
for i = 1, 200 do s = s + nested(i) end
print("nested", s)

s = 0
for i = 1, 200 do s = s + tail(i) end
print("tail", s)

s = 0
for i = 1, 200 do s = s + sum3(all(i)) end
print("open", s)

s = 0
for i = 1, 200 do s = s + sum3(i, i) end
print("missing", s)

s = 0
for i = 1, 200 do s = s + sum3(i, i, i, i, i) end
print("surplus", s)

-- The callee writes a local of the loop's own frame.
local count, last = 0, nil
local function note(x) count = count + 1; last = x; return count end
for i = 1, 200 do
  local n = note(i)
  if n ~= i or last ~= i then print("wrong", n, i, last) end
end
print(count, last)

-- The type changes inside the callee.
local function id(x) return x end
local kinds = {}
for i = 1, 300 do
  local v = i
  if i > 250 then v = "s" .. i elseif i > 200 then v = i + 0.5 end
  kinds[i] = id(v)
end
print(kinds[200], kinds[201], kinds[251], kinds[300])

-- An error in the callee, with a traceback.
local function fail(t, i) return t[i].x end
local rows = {}
for i = 1, 150 do rows[i] = { x = i } end
local function walk()
  local total = 0
  for i = 1, 200 do total = total + fail(rows, i) end
  return total
end
print(xpcall(walk, debug.traceback))

-- Recursion, direct and mutual.
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
s = 0
for i = 1, 60 do s = s + fib(i % 10) end
print("fib", s)

-- Methods and fields.
local point = { x = 1, y = 2 }
function point.move(p, dx) p.x = p.x + dx; return p end
for i = 1, 200 do point.move(point, i).y = i end
print(point.x, point.y)

-- Another closure of the same function, with its own upvalue.
local function counter() local n = 0; return function() n = n + 1; return n end end
local a, b = counter(), counter()
s = 0
for i = 1, 200 do
  local f = i % 3 == 0 and a or b
  s = s + f()
end
print(s, a(), b())
