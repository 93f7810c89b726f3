-- Permutations, subsets and combinations by recursion, with tables that are changed in place and with
-- callbacks.
local out, count = {}, 0
local function swap(t, i, j) t[i], t[j] = t[j], t[i] end
local function heap(n, t)
  if n == 1 then count = count + 1 out[#out + 1] = t[1] * 100 + t[2] * 10 + t[3] return end
  heap(n - 1, t)
  for i = 1, n - 1 do
    if n % 2 == 0 then swap(t, i, n) else swap(t, 1, n) end
    heap(n - 1, t)
  end
end
local function by_callback(t, n, f)
  if n == 0 then f(t) return 1 end
  local s = 0
  for i = 1, n do swap(t, i, n) s = s + by_callback(t, n - 1, f) swap(t, i, n) end
  return s
end
local function no_loop(t, i, n, f)
  if n == 0 then f(t) return 1 end
  if i > n then return 0 end
  swap(t, i, n)
  local a = no_loop(t, 1, n - 1, f)
  swap(t, i, n)
  return a + no_loop(t, i + 1, n, f)
end
heap(5, { 1, 2, 3, 4, 5 })
print(count, table.concat(out, " "))
local sum, texts = 0, {}
for n = 0, 5 do
  local t = { 1, 2, 3, 4.5, "5" }
  print(n, by_callback(t, n, function(p) sum = sum + p[1] * 2 + (p[2] or 0) end), sum,
        no_loop(t, 1, n, function(p) texts[#texts + 1] = p[1] .. p[5] end), #texts, t[1], t[5])
end
print(table.concat(texts, " ", 1, 60))
local function subsets(t, i, s)
  if i > #t then return s == 10 and 1 or 0 end
  return subsets(t, i + 1, s) + subsets(t, i + 1, s + t[i])
end
print(subsets({ 1, 2, 3, 4, 5, 6 }, 1, 0), subsets({ 1, 2.5, 7.5, 4, 5 }, 1, 0), subsets({ 10.0, 10 }, 1, 0))
local function combine(n, k, prefix)
  if k == 0 then out[#out + 1] = prefix return end
  if n < k then return end
  combine(n - 1, k - 1, prefix * 10 + n)
  combine(n - 1, k, prefix)
end
out = {}
combine(6, 3, 0)
print(#out, table.concat(out, " "))
local function words(n, w)
  if n == 0 then out[#out + 1] = w return end
  words(n - 1, w .. "a")
  words(n - 1, w .. "b")
end
out = {}
words(4, "")
print(table.concat(out, " "))
