-- Recursion with loops in it, while the collector makes the stack smaller and frees records of frames.

local function sort(a, l, r)
  if l < r then
    local p, i = a[r], l - 1
    for j = l, r - 1 do
      if a[j] <= p then i = i + 1 a[i], a[j] = a[j], a[i] end
    end
    a[i + 1], a[r] = a[r], a[i + 1]
    sort(a, l, i)
    sort(a, i + 2, r)
  end
end

local function merge(a)
  if #a <= 1 then return a end
  local left, right = {}, {}
  for i = 1, #a do
    if i <= #a // 2 then left[#left + 1] = a[i] else right[#right + 1] = a[i] end
  end
  left, right = merge(left), merge(right)
  local out, i, j = {}, 1, 1
  while i <= #left or j <= #right do
    if j > #right or (i <= #left and left[i] <= right[j]) then
      out[#out + 1] = left[i] i = i + 1
    else
      out[#out + 1] = right[j] j = j + 1
    end
  end
  return out
end

local function depth(n, t)
  local sum = 0
  for i = 1, 3 do sum = sum + i * n end
  if n == 0 then return sum + #t end
  return sum + depth(n - 1, { n, t })
end

for round = 1, 120 do
  local a = {}
  for j = 1, 50 do a[j] = (j * 7919 + round) % 101 end
  local b = merge(a)
  sort(a, 1, 50)
  for j = 1, 50 do assert(a[j] == b[j]) end
  local n = round % 7 == 0 and 150 or round % 10
  if round % 12 == 0 then collectgarbage() end
  if round % 10 == 0 then print(round, a[1], a[25], a[50], depth(n, {})) end
end

-- The same in coroutines, whose stacks are smaller, and which are left in the middle.
local function worker(k)
  return coroutine.wrap(function()
    for round = 1, 20 do
      local a = {}
      for j = 1, 30 do a[j] = (j * k + round * 31) % 67 end
      sort(a, 1, 30)
      coroutine.yield(a[1] + a[15] * 100 + depth(round, {}))
    end
  end)
end
local workers, sum = {}, 0
for k = 1, 6 do workers[k] = worker(k * 17) end
for round = 1, 20 do
  for k = 1, 6 do sum = sum + workers[k]() end
  collectgarbage("step")
end
print(sum)
