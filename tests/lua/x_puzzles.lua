-- Small classical programs: queens, life, edit distance, knapsack, Collatz, roman numbers, big numbers, Josephus, flood fill.
local function queens(n)
  local count, cols, d1, d2 = 0, {}, {}, {}
  local function place(r)
    if r > n then count = count + 1 return end
    for c = 1, n do
      if not cols[c] and not d1[r + c] and not d2[r - c] then
        cols[c], d1[r + c], d2[r - c] = true, true, true
        place(r + 1)
        cols[c], d1[r + c], d2[r - c] = nil, nil, nil
      end
    end
  end
  place(1)
  return count
end
print(queens(5), queens(6))
local w, h, cells = 12, 10, {}
for i = 0, w * h - 1 do cells[i] = (i * 7919 // 13) % 3 == 0 and 1 or 0 end
for _ = 1, 5 do
  local new = {}
  for y = 0, h - 1 do
    for x = 0, w - 1 do
      local n = -cells[y * w + x]
      for dy = -1, 1 do for dx = -1, 1 do n = n + cells[(y + dy) % h * w + (x + dx) % w] end end
      new[y * w + x] = (n == 3 or n == 2 and cells[y * w + x] == 1) and 1 or 0
    end
  end
  cells = new
end
print(table.concat(cells, "", 0, w * h - 1))
local function distance(a, b)
  local row = {}
  for j = 0, #b do row[j] = j end
  for i = 1, #a do
    local diagonal = row[0]
    row[0] = i
    for j = 1, #b do
      local cost = a:byte(i) == b:byte(j) and 0 or 1
      local best = math.min(row[j] + 1, row[j - 1] + 1, diagonal + cost)
      diagonal, row[j] = row[j], best
    end
  end
  return row[#b]
end
print(distance("kitten sitting on the", "sitting kitten in a"), distance("", "abc"), distance("same", "same"))
local best = {}
for c = 0, 60 do best[c] = 0 end
for i = 1, 8 do
  local weight, value = i * 3 % 11 + 2, i * 7 % 13 + 1
  for c = 60, weight, -1 do
    local v = best[c - weight] + value
    if v > best[c] then best[c] = v end
  end
end
print(best[60], best[20], best[7])
local function roman(n)
  local r = ""
  for _, p in ipairs { { 1000, "M" }, { 900, "CM" }, { 500, "D" }, { 400, "CD" }, { 100, "C" }, { 90, "XC" }, { 50, "L" }, { 40, "XL" }, { 10, "X" }, { 9, "IX" }, { 5, "V" }, { 4, "IV" }, { 1, "I" } } do
    while n >= p[1] do r = r .. p[2]; n = n - p[1] end
  end
  return r
end
local all = 0
for i = 1, 60 do all = all + #roman(i * 33) end
print(all, roman(1994), roman(3888))
local big = { 1 }
for i = 1, 60 do
  local carry = 0
  for j = 1, #big do local v = big[j] * i + carry; big[j] = v % 10000; carry = v // 10000 end
  while carry > 0 do big[#big + 1] = carry % 10000; carry = carry // 10000 end
end
local digits = { tostring(big[#big]) }
for j = #big - 1, 1, -1 do digits[#digits + 1] = ("%04d"):format(big[j]) end
print(table.concat(digits))
local pos = 0
for n = 2, 80 do pos = (pos + 3) % n end
print(pos)
local map, filled = {}, 0
for y = 1, 8 do map[y] = {}; for x = 1, 8 do map[y][x] = (x * y) % 3 == 0 and "#" or "." end end
local stack = { { 1, 1 } }
while #stack > 0 do
  local p = table.remove(stack)
  local x, y = p[1], p[2]
  if map[y] and map[y][x] == "." then
    map[y][x] = "o"; filled = filled + 1
    for _, d in ipairs { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } } do stack[#stack + 1] = { x + d[1], y + d[2] } end
  end
end
for y = 1, 8 do map[y] = table.concat(map[y]) end
print(filled, table.concat(map, "|"))
