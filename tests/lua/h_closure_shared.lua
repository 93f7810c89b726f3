-- Closures over a loop's locals that both sides change between calls.
local function apply(f, ...) return f(...) end
for round = 1, 6 do
  local n, m = 0, 100
  local function inc(k) n = n + k return n end
  local function dec() m = m - 1 n = n - m % 3 return m end
  local function both() inc(2) return dec() end
  local s = 0
  for i = 1, 40 do
    n = n + 1
    s = s + inc(i % 3)
    if i % 4 == round % 4 then m = m + i end
    s = s + apply(both) + n - m
    if i % 10 == 9 then n = tostring(n) n = n + 0 end
  end
  print(round, n, m, s)
end
-- Created in the loop, over the loop variable and locals of the block; kept or not.
local kept = {}
local total = 0
for i = 1, 30 do
  local v = i * 2
  local function get() return v + i end
  local function set(x) v = x i = i + 1 end
  total = total + get()
  set(total % 50)
  total = total + get() + v + i
  if i % 7 == 0 then kept[#kept + 1] = { get, set } end
end
for round = 1, 5 do
  for k = 1, #kept do
    total = total + kept[k][1]()
    kept[k][2](k * round)
  end
end
print(total, #kept)
-- Left by break and goto while closures refer to the block's variables.
local fs = {}
for i = 1, 20 do
  local a = i
  fs[#fs + 1] = function(d) a = a + d return a end
  local j = 0
  while true do
    local b = a + j
    fs[#fs + 1] = function() a = a + 1 b = b + a return b end
    j = j + 1
    if j == 3 then break end
    if i % 2 == 0 then a = a * 2 goto next end
    b = b + 1
    ::next::
  end
  if i % 5 == 0 then goto continue end
  a = a + 100
  ::continue::
end
local sum = 0
for round = 1, 3 do
  for k = 1, #fs do sum = (sum * 3 + fs[k](round)) % 1000003 end
end
print(sum, #fs)
-- repeat, whose condition sees the block's variable.
local count = 0
for i = 1, 20 do
  local g
  repeat
    local x = count % 13
    g = function() x = x + 1 return x end
    count = count + g()
  until x > 6 or g() % 5 == 0
  count = count + g()
end
print(count)
