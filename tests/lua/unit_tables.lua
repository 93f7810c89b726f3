-- Tables in recursion: lists and trees that are built, read, changed, cut and sorted.
local function insert(t, k)
  if not t then return { k = k, n = 1 } end
  if k < t.k then t.left = insert(t.left, k) elseif k > t.k then t.right = insert(t.right, k) end
  t.n = 1 + (t.left and t.left.n or 0) + (t.right and t.right.n or 0)
  return t
end
local function smallest(t) if t.left then return smallest(t.left) end return t.k end
local function remove(t, k)
  if not t then return nil end
  if k < t.k then t.left = remove(t.left, k)
  elseif k > t.k then t.right = remove(t.right, k)
  elseif not t.left then return t.right
  elseif not t.right then return t.left
  else t.k = smallest(t.right) t.right = remove(t.right, t.k) end
  return t
end
local function height(t)
  if not t then return 0 end
  local a, b = height(t.left), height(t.right)
  return 1 + (a > b and a or b)
end
local function total(t) return t and t.k + total(t.left) + total(t.right) or 0 end
local function list(t, into)
  if t then list(t.left, into) into[#into + 1] = t.k list(t.right, into) end
  return into
end
local tree, seed = nil, 7
for i = 1, 120 do seed = (seed * 137 + 29) % 1009 tree = insert(tree, i % 30 == 0 and seed + 0.5 or seed) end
print(tree.n, height(tree), total(tree), smallest(tree))
print(table.concat(list(tree, {}), " "))
for k = 0, 1009, 3 do tree = remove(tree, k) end
print(height(tree), total(tree), table.concat(list(tree, {}), " "))

local function from(n, m) if n > m then return nil end return { head = n, tail = from(n + 1, m) } end
local function map(f, l)
  if l == nil then return nil end
  return { head = f(l.head), tail = map(f, l.tail) }
end
local function fold(l, x) if l == nil then return x end return fold(l.tail, x + l.head) end
local function reverse(l, r)
  if l == nil then return r end
  return reverse(l.tail, { head = l.head, tail = r })
end
local function append(a, b)
  if a == nil then return b end
  return { head = a.head, tail = append(a.tail, b) }
end
local function nth(l, n) if n == 1 then return l.head end return nth(l.tail, n - 1) end
for i = 1, 30 do
  local l = from(1, i)
  local m = map(function(x) return i % 5 == 0 and x / 2 or x * 2 end, l)
  print(fold(l, 0), fold(m, 0), nth(reverse(m), 1), fold(append(l, m), 0.0), nth(append(l, l), i + 1))
end

local function quick(t, low, high)
  if low >= high then return end
  local pivot, i, j = t[(low + high) // 2], low, high
  while i <= j do
    while t[i] < pivot do i = i + 1 end
    while t[j] > pivot do j = j - 1 end
    if i <= j then t[i], t[j] = t[j], t[i] i = i + 1 j = j - 1 end
  end
  quick(t, low, j)
  quick(t, i, high)
end
local function partition(t, low, high, pivot)
  if low > high then return high end
  if t[low] < pivot then return partition(t, low + 1, high, pivot) end
  t[low], t[high] = t[high], t[low]
  return partition(t, low, high - 1, pivot)
end
local function merge(a, i, b, j)
  if i > #a then return j <= #b and { b[j], merge(a, i, b, j + 1) } or nil end
  if j > #b or a[i] <= b[j] then return { a[i], merge(a, i + 1, b, j) } end
  return { b[j], merge(a, i, b, j + 1) }
end
local t = {}
for i = 1, 60 do seed = (seed * 137 + 29) % 1009 t[i] = i % 9 == 0 and seed + 0.25 or seed end
quick(t, 1, #t)
print(table.concat(t, " "))
for i = 1, 60 do seed = (seed * 137 + 29) % 1009 t[i] = seed end
print(partition(t, 1, 60, 500), partition(t, 1, 60, 100.5), table.concat(t, " "))
local m = merge({ 1, 4, 6.5, 9 }, 1, { 2, 3, 6, 10, 11 }, 1)
while m do io.write(m[1], " ") m = m[2] end
print()
