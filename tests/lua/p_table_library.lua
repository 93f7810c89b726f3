-- The table library as programs use it: move, insert and remove in the middle, sort by several keys, concat, pack, unpack.
local function show(t) return table.concat(t, " ") end
local t = {}
for i = 1, 60 do table.insert(t, i % 5 == 0 and 1 or #t // 2 + 1, i) end
print(show(t))
local removed = {}
for i = 1, 40 do removed[i] = table.remove(t, i % 3 == 0 and 1 or i % 3 == 1 and #t or #t // 2) end
print(show(removed))
print(show(t), table.remove({}), table.remove({}, 0), table.remove({ n = 1 }, 0))
local ring = { 1, 2, 3, 4, 5, 6, 7, 8 }
for i = 1, 100 do
  local first = ring[1]
  table.move(ring, 2, #ring, 1)
  ring[#ring] = first
  if i % 30 == 0 then
    table.move(ring, 1, 4, 3)
    print(show(ring))
  end
end
local copy = table.move(ring, 1, #ring, 1, {})
print(#copy, copy ~= ring, show(table.move({ 1, 2, 3 }, 2, 3, 5, { 9, 9, 9, 9 })))
local rows = {}
for i = 1, 90 do rows[i] = { id = i, group = ("xyz"):sub(i * 7 % 3 + 1, i * 7 % 3 + 1), size = i * 37 % 23 } end
table.sort(rows, function(a, b)
  if a.group ~= b.group then return a.group < b.group end
  if a.size ~= b.size then return a.size > b.size end
  return a.id < b.id
end)
local ids = {}
for i = 1, 90, 6 do ids[#ids + 1] = rows[i].group .. rows[i].id end
print(show(ids))
local function merge_sort(list, less)
  local n, width, from, to = #list, 1, list, {}
  while width < n do
    for low = 1, n, 2 * width do
      local middle, high = math.min(low + width, n + 1), math.min(low + 2 * width, n + 1)
      local i, j = low, middle
      for k = low, high - 1 do
        if i < middle and (j >= high or not less(from[j], from[i])) then to[k] = from[i] i = i + 1
        else to[k] = from[j] j = j + 1 end
      end
    end
    from, to, width = to, from, width * 2
  end
  return from
end
local words = {}
for w in ("the quick brown fox jumps over the lazy dog and runs away from the big bad wolf"):gmatch("%a+") do words[#words + 1] = w end
print(show(merge_sort(words, function(a, b) return #a < #b end)))
table.sort(words)
print(show(words))
local function search(list, v)
  local low, high = 1, #list
  while low <= high do
    local middle = (low + high) // 2
    if list[middle] == v then return middle end
    if list[middle] < v then low = middle + 1 else high = middle - 1 end
  end
  return nil, low
end
local sorted, inserted = {}, 0
for i = 1, 120 do
  local v = i * 73 % 101
  local at, place = search(sorted, v)
  if not at then
    table.insert(sorted, place, v)
    inserted = inserted + 1
  end
end
print(inserted, sorted[1], sorted[#sorted], search(sorted, 50), (search(sorted, 0.5)))
local packed = 0
for i = 1, 80 do
  local p = table.pack(table.unpack({ i, nil, i * 2 }, 1, i % 4))
  packed = packed + p.n * 10 + (p[1] or 0) + (p[3] or 0)
end
print(packed)
local parts, length = {}, 0
for i = 1, 100 do
  parts[#parts + 1] = i % 2 == 0 and i or i / 4
  length = length + #table.concat(parts, i % 3 == 0 and ", " or "", math.max(1, #parts - 5))
end
print(length, table.concat({}, "x"), table.concat({ 1, 2.5, "c" }, "-", 2, 3))
print(pcall(table.concat, { 1, {}, 3 }), pcall(table.insert, { 1, 2 }, 5, 0), pcall(table.insert, {}, 1, 2, 3))
print(pcall(table.sort, { 3, "a", 1 }))
local proxied, writes = {}, 0
local proxy = setmetatable({}, {
  __index = proxied, __len = function() return #proxied end,
  __newindex = function(_, k, v) writes = writes + 1 proxied[k] = v end
})
for i = 1, 50 do table.insert(proxy, i * i % 17) end
for _ = 1, 10 do table.remove(proxy) end
table.sort(proxy)
print(writes > 50, #proxied, show(proxied), (table.unpack(proxy, 1, 3)))
local stack, depth = {}, 0
for i = 1, 150 do
  if i % 3 == 0 then depth = depth + table.remove(stack) else stack[#stack + 1] = i end
end
print(depth, #stack, select("#", table.unpack(stack)))
