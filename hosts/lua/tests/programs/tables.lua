-- Tables: constructors, holes, growth, removal while traversing, length, sort, nested updates.
local t = { 1, 2, 3, nil, 5, x = 1, ["y z"] = 2, [10] = 10, { 1, { 2 } }, 7; 8 }
local keys = {}
for key, value in pairs(t) do keys[#keys + 1] = tostring(key) .. "=" .. type(value) end
table.sort(keys)
print(#keys, table.concat(keys, " "))
local list = {}
for i = 1, 100 do list[#list + 1] = (i * 37) % 101 end
for i = 1, 40 do table.remove(list, (i * 3) % #list + 1) end
for i = 1, 10 do table.insert(list, i, -i) end
table.sort(list)
print(#list, table.concat(list, " "))
local grid = {}
for i = 1, 12 do
  grid[i] = {}
  for j = 1, 12 do grid[i][j] = i * j end
end
for i = 2, 11 do
  for j = 2, 11 do grid[i][j] = (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]) // 4 end
end
local sums = {}
for i, row in ipairs(grid) do
  local sum = 0
  for _, value in ipairs(row) do sum = sum + value end
  sums[i] = sum
end
print(table.concat(sums, " "))
local map = {}
for i = 1, 200 do map["k" .. i % 50] = (map["k" .. i % 50] or 0) + i end
for key in pairs(map) do if map[key] % 2 == 0 then map[key] = nil end end
local left, total = 0, 0
for _, value in pairs(map) do left = left + 1; total = total + value end
print(left, total)
local mixed = { [1] = "a", [2.0] = "b", [-1] = "c", [0] = "d", [true] = "e", [1.5] = "f" }
for _, key in ipairs({ 1, 2, -1, 0, true, 1.5, 3, "x" }) do io.write(tostring(mixed[key]), " ") end
print()
local queue, head, tail, seen = {}, 1, 0, 0
for i = 1, 150 do
  tail = tail + 1; queue[tail] = i
  if i % 3 ~= 0 then seen = seen + queue[head]; queue[head] = nil; head = head + 1 end
end
print(seen, head, tail, next({}), rawlen({ 1, 2 }), rawequal(t, t), select("#", table.unpack(list, 1, 5)))
local long = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30,
  31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, table.unpack(list) }
print(#long, long[50], long[56], table.concat(table.move(long, 50, 60, 1, {}), " "))
