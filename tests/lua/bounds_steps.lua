-- Loops with steps of every kind, up and down, over arrays that end exactly where the loop does, before it or behind it.
local function array(n)
  local t = {}
  for i = 1, n do t[i] = i end
  return t
end
local t = array(64)
local function show(...) print(...) end

for extra = -2, 3 do
  local n = 64 + extra
  local a, b, c, d, e, f, g = 0, 0, 0, 0, 0, 0, 0
  for i = 1, n do a = a + (t[i] or 0.5) end
  for i = n, 1, -1 do b = b + (t[i] or 0.5) end
  for i = 1, n, 2 do c = c + (t[i] or 0.5) end
  for i = n, 1, -2 do d = d + (t[i] or 0.5) end
  for i = 2, n, 3 do e = e + (t[i] or 0.5) end
  for i = n, extra, -3 do f = f + (t[i] or 0.5) end
  for i = n, -extra, -4 do g = g + (t[i] or 0.5) + (t[i + 1] or 0.25) end
  show(extra, a, b, c, d, e, f, g)
end

-- Neighbours on both sides; the first and the last of them are not there.
local function neighbours(from, to, step)
  local s = 0
  for i = from, to, step do
    local before, here, after = t[i - 1], t[i], t[i + 1]
    s = s + (before or 0.125) + (here or 0.25) + (after or 0.5)
  end
  return s
end
for round = 1, 4 do
  show(neighbours(2, 63, 1), neighbours(1, 64, 1), neighbours(0, 65, 1), neighbours(63, 2, -1), neighbours(65, 0, -1))
  show(neighbours(2, 63, 2), neighbours(64, 1, -2), neighbours(1, 66, 4), neighbours(66, -2, -4), neighbours(1, 64, 7))
end

-- A step that is one of two constants, known only when the program runs.
local function either(up, from, to)
  local s = 0
  for i = from, to, up and 1 or 2 do s = s * 3 % 1000003 + (t[i] or 7) end
  for i = to, from, up and -1 or -2 do s = s * 3 % 1000003 + (t[i] or 7) end
  return s
end
for round = 1, 40 do show(either(round % 3 == 0, 1, 64), either(round % 2 == 0, 1, 66), either(round > 20, -1, 30)) end

-- Large steps, and such that the last one would overflow.
local count = 0
for i = 1, math.maxinteger, math.maxinteger // 90 do count = count + (t[i] or 100) end
for i = math.maxinteger, math.mininteger, math.mininteger // 40 do count = count + (t[i] or 100) end
for i = 1, math.maxinteger, 1 << 62 do count = count + (t[i] or 1000) end
for i = -1, math.mininteger, math.mininteger do count = count + (t[i] or 10000) end
for i = 64, 1, -64 do count = count + t[i] end
for i = 1, 64, 63 do count = count + t[i] end
show(count)

-- Loops within loops, whose bounds depend on one another.
local rows = {}
for i = 1, 24 do rows[i] = array(i) end
local s = 0
for round = 1, 3 do
  for i = 1, #rows do
    local row = rows[i]
    for j = 1, #row do s = s + row[j] end
    for j = #row, 1, -1 do s = s + row[j] * 2 end
    for j = 1, 24 do s = s + (row[j] or 0) end
    for j = i, 25 do s = s + (rows[j] and rows[j][i] or 1) end
  end
end
show(s)
