-- Inner loops that have code of their own and are then met with one iteration, with none, and with many again: steps up and
-- down, integers and floats, limits at the ends of the range.
local t = {}
for i = 1, 64 do t[i] = i * 3 % 17 end

local function rising(n, step, last)
  local s = 0
  for k = 1, n do
    for i = k, last, step do s = s + t[i] * k end
    s = s ~ k
  end
  return s
end

local function falling(n, step, last)
  local s = 0
  for k = n, 1, -1 do
    for i = k, last, step do s = s + t[i] - k end
  end
  return s
end

local function floats(n, step, last)
  local s, rounds = 0.0, 0
  for k = 1.0, n do
    for x = k, last, step do s, rounds = s + x * 0.5, rounds + 1 end
  end
  return s, rounds
end

for round = 1, 3 do
  print(rising(64, 1, 64), falling(64, -1, 1), floats(64, 1.0, 64))
  for step = 16, 80, 16 do
    local up, down, real, count = 0, 0, 0.0, 0
    for _ = 1, 12 do
      up = up + rising(64, step, 64)
      down = down + falling(64, -step, 1)
      local s, n = floats(64, step + 0.5, 64.25)
      real, count = real + s, count + n
    end
    print(round, step, up, down, real, count)
  end
  -- None at all, once, and where the distance to the limit leaves the range of integers.
  print(rising(64, 1, 0), falling(64, -1, 100), floats(64, 1, -1))
  print(rising(64, math.maxinteger, 64), falling(64, math.mininteger, 1), floats(64, math.huge, 64))
  print(pcall(rising, 64, 0, 64))
  print(pcall(floats, 64, 0.0, 64))
end
