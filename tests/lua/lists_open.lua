-- Lists whose length is known only when they are filled: with holes, where '#' tells how large the array part
-- is; after other items and fields; from calls, variable arguments and table.unpack; in loops and recursion.
local function give(n, ...) if n == 0 then return end if n == 1 then return ... end return ... end
local function some(k)
  local n = k % 7
  if n == 0 then return end
  if n == 1 then return k end
  if n == 2 then return nil, k end
  if n == 3 then return k, nil end
  if n == 4 then return k, nil, nil, k end
  if n == 5 then return nil, nil, nil end
  return k, k + 1, nil, k + 3, nil, k + 5, nil
end
local function keys(t)
  local n, names = 0, 0  -- names come in another order in each run
  for k, v in next, t do
    if type(k) == "number" then n = n * 7 + k + (type(v) == "number" and v % 5 or 0) else names = names + v end
  end
  return n + names
end
local function forms(k, ...)
  local a, b, c = { some(k) }, { k, some(k) }, { nil, k, some(k) }
  local d, e, f = { ... }, { k, ... }, { x = k, y = 2, some(k) }
  local g = { table.unpack(b, 1, k % 4) }
  b[#b + 1] = k
  d[#d + 1] = k
  return #a, #b, #c, #d, #e, #f, #g, keys(a), keys(b), keys(c), keys(d), keys(e), keys(f), keys(g)
end
for k = 1, 60 do
  local line = table.concat({ forms(k, some(k + 1)) }, " ")
  if k > 46 then print(k, line) end
end

local function nest(n) if n == 0 then return { some(6) } end return { nest(n - 1), some(n) } end
local function size(t)
  local n = #t
  for k, v in pairs(t) do if type(v) == "table" then n = n + size(v) else n = n + k end end
  return n
end
for n = 1, 30 do io.write(size(nest(n % 9)), " ") end
print()

-- A list that the loop keeps, and one that it forgets.
local kept, sum = {}, 0
for k = 1, 100 do
  local t = { give(k % 3, k, some(k)) }
  sum = sum + #t + (t[1] or 0)
  if k % 10 == 0 then kept[#kept + 1] = t end
end
for _, t in ipairs(kept) do sum = sum * 3 + #t + keys(t) end
print(sum, #kept)

-- Another length than the one that was recorded, when the fields are there already.
local function vary(k) local t = { a = 1, some(k) } t.b = 2 return #t, t[1], t.a, t.b end
for k = 1, 40 do
  local n, first, a, b = vary(k < 30 and 1 or k)
  if k > 28 then print(n, first, a, b) end
end
