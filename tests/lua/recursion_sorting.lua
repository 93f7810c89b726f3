-- Sorting by recursion: quicksort in place, merge sort with new tables, heap sort, a sort by table.sort in
-- each partition; numbers of both types, texts, and comparisons by functions.
local function quick(a, i, j, less)
  while i < j do
    local p = a[(i + j) // 2]
    local l, r = i, j
    while l <= r do
      while less(a[l], p) do l = l + 1 end
      while less(p, a[r]) do r = r - 1 end
      if l <= r then
        a[l], a[r] = a[r], a[l]
        l, r = l + 1, r - 1
      end
    end
    if r - i < j - l then
      quick(a, i, r, less)
      i = l
    else
      quick(a, l, j, less)
      j = r
    end
  end
end
local function merge_sort(a, less)
  local n = #a
  if n < 2 then return a end
  local left, right = {}, {}
  for i = 1, n // 2 do left[i] = a[i] end
  for i = n // 2 + 1, n do right[#right + 1] = a[i] end
  left, right = merge_sort(left, less), merge_sort(right, less)
  local out, i, j = {}, 1, 1
  while i <= #left or j <= #right do
    if j > #right or i <= #left and not less(right[j], left[i]) then
      out[#out + 1] = left[i]
      i = i + 1
    else
      out[#out + 1] = right[j]
      j = j + 1
    end
  end
  return out
end
local function sift(a, i, n, less)
  local c = 2 * i
  if c > n then return end
  if c < n and less(a[c], a[c + 1]) then c = c + 1 end
  if less(a[i], a[c]) then
    a[i], a[c] = a[c], a[i]
    return sift(a, c, n, less)
  end
end
local function heap_sort(a, less)
  local n = #a
  for i = n // 2, 1, -1 do sift(a, i, n, less) end
  for k = n, 2, -1 do
    a[1], a[k] = a[k], a[1]
    sift(a, 1, k - 1, less)
  end
end
local function mixed(a, less)
  if #a < 9 then
    table.sort(a, less)
    return a
  end
  local low, high, p = {}, {}, a[1]
  for i = 2, #a do
    local t = less(a[i], p) and low or high
    t[#t + 1] = a[i]
  end
  low, high = mixed(low, less), mixed(high, less)
  low[#low + 1] = p
  return table.move(high, 1, #high, #low + 1, low)
end

local orders = {
  function(x, y) return x < y end,
  function(x, y) return x > y end,
  function(x, y) return tostring(x) < tostring(y) end,
}
local function data(n, kind)
  local a = {}
  for i = 1, n do
    local x = i * 7919 % 211
    if kind == 2 then x = x / 2
    elseif kind == 3 and x % 7 == 0 then x = x + 0.5
    elseif kind == 4 then x = "k" .. x end
    a[i] = x
  end
  return a
end
local function check(a, less)
  local s = 0
  for i = 1, #a do
    if i > 1 and less(a[i], a[i - 1]) then return "unsorted at " .. i end
    s = (s * 31 + (tonumber(a[i]) or #a[i]) * i) % 1000003
  end
  return s
end
for kind = 1, 4 do
  for k, less in ipairs(orders) do
    local n = k == 3 and 15 or 48
    local a, b, c = data(n, kind), data(n, kind), data(n, kind)
    quick(a, 1, n, less)
    heap_sort(b, less)
    c = merge_sort(c, less)
    local d = mixed(data(n, kind), less)
    print(kind, k, check(a, less), check(b, less), check(c, less), check(d, less))
  end
end
print(pcall(quick, { 3, 1, "x" }, 1, 3, orders[1]))
print(pcall(merge_sort, { 1, {}, 2 }, orders[2]))
