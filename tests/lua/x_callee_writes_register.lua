-- A called function is the first to write a register of the loop's own frame, and the loop itself never touches it.
local function work(i1, v1)
  local i2 = 1
  local function f(d)
    i2 = v1; v1 = d
  end
  local m = 0
  repeat
    m = m + 1
  until m > 10 or (m > 3 and f(i1))
  return i2, v1
end
for r = 1, 12 do print(work(5, 2.5 * r)) end
local function last(n)
  local seen, count = nil, 0
  local function note(x) seen = x end
  local function deeper(x) note(x); count = count + 1 end
  for i = 1, n do deeper(i % 10 == 0 and i * 0.5 or i) end
  return seen, count
end
for n = 55, 64 do print(last(n)) end
local function swap(n)
  local a, b = 1, "x"
  local function other() a, b = b, a end
  for _ = 1, n do other() end
  return a, b
end
print(swap(61), swap(62), swap(3), swap(80))
