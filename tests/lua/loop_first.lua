-- Loops whose head is the first instruction of their function, within others and alone; some have no iteration.
local left = 0

local function count_down()
  while left > 0 do left = left - 1 end
end

local function until_zero()
  repeat left = left - 1 until left <= 0
end

local function both(t)
  for _, n in ipairs(t) do
    left = n
    count_down()
    left = n
    until_zero()
  end
end

local t = {}
for i = 1, 60 do t[i] = i * 7 % 5 end
for _ = 1, 40 do both(t) end
print(left)

-- The same in one function: its own loop and an inner one begin where it begins.
local a, b, sum = 200, 0, 0
local function nest()
  while a > 0 do
    while b < a % 4 do b = b + 1; sum = sum + b end
    a, b = a - 1, 0
  end
end
for _ = 1, 20 do a = 200; nest() end
print(sum, a, b)
