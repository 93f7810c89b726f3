-- Functions with loops that call themselves from the loop: permutations, queens, subsets, partitions, a walk
-- over a graph; loops of all kinds, left by break, goto and return.
local function permute(a, k, visit)
  if k == 0 then return visit(a) end
  for i = 1, k do
    a[i], a[k] = a[k], a[i]
    if permute(a, k - 1, visit) then return true end
    a[i], a[k] = a[k], a[i]
  end
end
for n = 1, 5 do
  local count, sum = 0, 0
  local a = {}
  for i = 1, n do a[i] = i == 3 and 3.0 or i end
  permute(a, n, function(p)
    count = count + 1
    for i = 1, n do sum = (sum * 3 + p[i] * i) % 1000003 end
    if n == 5 and count == 100 then return true end
  end)
  print(n, count, sum, table.concat(a, " "))
end

local function queens(n)
  local columns, found, steps = {}, 0, 0
  local function place(row)
    if row > n then
      found = found + 1
      return
    end
    for c = 1, n do
      for r = 1, row - 1 do
        steps = steps + 1
        local d = columns[r] - c
        if d == 0 or d == row - r or d == r - row then goto next end
      end
      columns[row] = c
      place(row + 1)
      ::next::
    end
  end
  place(1)
  return found, steps
end
for n = 1, 6 do print(n, queens(n)) end

local function subsets(list, i, rest, chosen)
  local found = rest == 0 and 1 or 0
  while i <= #list do
    local x = list[i]
    if x > rest then break end
    chosen[#chosen + 1] = x
    found = found + subsets(list, i + 1, rest - x, chosen)
    chosen[#chosen] = nil
    i = i + 1
  end
  return found
end
local numbers = { 1, 2, 3, 4.0, 5, 6, 7, 8, 9 }
for goal = 5, 35, 5 do io.write(goal, ":", subsets(numbers, 1, goal, {}), " ") end
print()

local function partitions(n, most)
  if n == 0 then return 1 end
  local count, k = 0, 1
  repeat
    if k > n then return count end
    count = count + partitions(n - k, k)
    k = k + 1
  until k > most
  return count
end
for n = 1, 13 do io.write(partitions(n, n), " ") end
print()

local graph = {}
for i = 1, 40 do graph[i] = { (i * 7) % 40 + 1, (i * 3 + 5) % 40 + 1, i % 9 == 0 and i // 2 or nil } end
local function reach(node, seen, limit)
  if seen[node] or limit == 0 then return 0 end
  seen[node] = true
  local n = 1
  for _, to in ipairs(graph[node]) do n = n + reach(to, seen, limit - 1) end
  return n
end
for limit = 1, 14 do io.write(reach(limit * 3 % 40 + 1, {}, limit), " ") end
print()
local function paths(node, goal, limit, way)
  way[#way + 1] = node
  local found = 0
  if node == goal then found = 1
  elseif limit > 0 then
    for k, to in pairs(graph[node]) do found = found + paths(to, goal, limit - 1, way) * k end
  end
  way[#way] = nil
  return found
end
for goal = 1, 40, 8 do io.write(paths(1, goal, 7, {}), " ") end
print()
-- Two loops in one function, both with a call of it, and a loop around the whole.
local calls = 0
local function both(n)
  calls = calls + 1
  local s = n
  for i = 1, n - 1 do s = s + both(i - 1) end
  for i = n - 1, 1, -2 do s = s - both(i - 1) / 2 end
  return s
end
for n = 0, 6 do print(n, both(n), calls) end
