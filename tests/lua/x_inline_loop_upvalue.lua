-- Functions called in a hot loop that read and write the loop's own variables as upvalues: open, aliased with slots.
local function outer(n)
  local sum, trail = 0, {}
  for i = 1, n do
    local j = i * 2
    local function bump(d) j = j + d; sum = sum + i; return j end
    bump(1)
    local seen = bump(i)
    if i % 25 == 0 then trail[#trail + 1] = seen .. ":" .. j .. ":" .. sum end
  end
  return sum, table.concat(trail, " ")
end
print(outer(100))
-- The closure is made once and reads a variable that the loop writes.
local function shared(n)
  local x, total = 0, 0
  local function get() return x end
  local function add(v) x = x + v end
  for i = 1, n do
    x = i
    total = total + get()
    add(10)
    total = total + x
    if i == 60 then x = 0.5; total = total + get() end
  end
  return total, x, get()
end
print(shared(100))
-- Closures kept from different rounds have their own copies.
local kept = {}
for i = 1, 80 do
  local v = i
  local function f() v = v + 1; return v + i end
  f()
  if i % 16 == 0 then kept[#kept + 1] = f end
end
for k = 1, #kept do io.write(kept[k](), " ", kept[k](), " ") end
print()
-- A while loop whose condition is an upvalue that the called function changes.
local left = 100
local function step() left = left - 3; return left end
local rounds = 0
while left > 0 do rounds = rounds + 1; if step() % 7 == 0 then rounds = rounds + 100 end end
print(rounds, left)
