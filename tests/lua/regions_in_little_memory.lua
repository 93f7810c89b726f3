-- Loops in loops over tables whose elements change their types, under 'pcall': their trees grow one after the
-- other, and become regions of several roots. With little code memory (--code-limit=100) a region that found
-- none was made again for each of them, without end. It was found by chance, and made shorter.
local floor = math.floor
local n, a, b, c, d, M, R = 20, {}, {}, {}, {}, {}, {}
for i = 1, n do a[i] = i b[i] = i * 7 % 13 c[i] = i % 3 d[i] = n - i end
for i = 1, 6 do
  M[i] = {}
  for j = 1, 6 do M[i][j] = i * j % 7 end
end
for i = 1, 5 do R[i] = { x = i, y = i * 2, z = 0 } end

local function whole(x)
  if x ~= x or x > 1e15 or x < -1e15 then return 1 end
  return floor(x)
end

local function limited(x)
  if x ~= x then return 0 end
  if x > 1e6 or x < -1e6 then return x % 1000 end
  return x
end

local left, total = 0, 0
local function spend(k) left = left - k end

local function call(f, size, m)
  local ok, x, y, z = pcall(f, size, m)
  if ok then total = (total * 31 + limited(x) * 3 + limited(y) * 5 + limited(z) * 7) % 1000003 end
end

local function work(n, m)
  local x, y, z = 1, 2, 0.5
  for i = 1, n * 10 do
    local q = i // 2 + 1
    d[q] = (d[q] or 0) + 1
    for _, value in pairs(a) do
      if (c[i] or 0) < value then value = (c[i] or 0) end
      if not d[n] then left = left + 1 end
    end
    z = (z * 31 + ((z * 1.0) + (M[whole(#a) % 6 + 1][((i * 7 + 3) % n + 1) // 1 % 6 + 1]))) % 65537
    local r = R[(i) // 1 % 5 + 1]
    r.x, r.y = r.y, limited(r.x + (c[i] or 0))
    local v3 = y
    local round = 0
    repeat
      round = round + 1
      local v5 = (12 / 1)
      a[round] = v3 % 1000
    until round >= m or v5 == 1
    x, y, z = limited(x), limited(y), limited(z)
  end
  spend(n)
  for i = n, 1, -1 do
  end
  return x, y, z
end

for turn = 1, 75 do call(work, n, turn % 7 + 1) end
print(total, left, #a, #d, R[3].x, R[4].y)
