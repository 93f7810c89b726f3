-- A binary heap with a comparison of its own, sorting by it, and shortest paths on a grid and on a graph with names.
local Heap = {}
Heap.__index = Heap
Heap.__len = function(h) return h.n end
function Heap.new(less) return setmetatable({ n = 0, less = less or function(a, b) return a < b end }, Heap) end
function Heap:push(value)
  local n = self.n + 1
  self.n = n
  while n > 1 do
    local parent = n // 2
    if not self.less(value, self[parent]) then break end
    self[n] = self[parent]
    n = parent
  end
  self[n] = value
end
function Heap:pop()
  local n = self.n
  if n == 0 then return nil end
  local top, last = self[1], self[n]
  self[n], self.n = nil, n - 1
  n = n - 1
  if n == 0 then return top end
  local hole = 1
  while hole * 2 <= n do
    local child = hole * 2
    if child < n and self.less(self[child + 1], self[child]) then child = child + 1 end
    if not self.less(self[child], last) then break end
    self[hole] = self[child]
    hole = child
  end
  self[hole] = last
  return top
end
local h, x = Heap.new(), 12345
for _ = 1, 150 do
  x = (x * 1103515245 + 12345) % 2147483648
  h:push(x % 1000)
end
print(#h)
local last, ordered, sum = -1, true, 0
while #h > 0 do
  local v = h:pop()
  ordered = ordered and v >= last
  sum, last = sum + v * (#h + 1), v
end
print(ordered, sum, h:pop())
local width, height = 14, 10
local cost = {}
for y = 1, height do
  cost[y] = {}
  for c = 1, width do cost[y][c] = (c * 7 + y * y * 3) % 9 + 1 end
end
local function grid_distance(sx, sy, tx, ty)
  local best, heap, seen = { [sy * 100 + sx] = 0 }, Heap.new(function(a, b) return a[1] < b[1] end), 0
  heap:push { 0, sx, sy }
  while #heap > 0 do
    local top = heap:pop()
    local d, px, py = top[1], top[2], top[3]
    if px == tx and py == ty then return d, seen end
    if d == best[py * 100 + px] then
      seen = seen + 1
      for k = 0, 3 do
        local nx, ny = px + (k == 0 and 1 or k == 1 and -1 or 0), py + (k == 2 and 1 or k == 3 and -1 or 0)
        if cost[ny] and cost[ny][nx] then
          local nd = d + cost[ny][nx]
          local key = ny * 100 + nx
          if nd < (best[key] or math.huge) then
            best[key] = nd
            heap:push { nd, nx, ny }
          end
        end
      end
    end
  end
end
print(grid_distance(1, 1, width, height))
print(grid_distance(width, 1, 1, height))
print(grid_distance(1, 1, 99, 1))
local roads = { { "a", "b", 4.5 }, { "a", "c", 2 }, { "c", "b", 1.25 }, { "b", "d", 5 }, { "c", "d", 8 }, { "d", "e", 3 }, { "x", "y", 1 } }
local graph = {}
for _, r in ipairs(roads) do
  for k = 1, 2 do
    graph[r[k]] = graph[r[k]] or {}
    table.insert(graph[r[k]], { to = r[3 - k], length = r[3] })
  end
end
local function route(from, to)
  local distance, before = { [from] = 0 }, {}
  local heap = Heap.new(function(a, b) return a.d < b.d or a.d == b.d and a.name < b.name end)
  heap:push { d = 0, name = from }
  while #heap > 0 do
    local here = heap:pop()
    if here.d <= distance[here.name] then
      for _, road in ipairs(graph[here.name]) do
        local d = here.d + road.length
        if not distance[road.to] or d < distance[road.to] then
          distance[road.to], before[road.to] = d, here.name
          heap:push { d = d, name = road.to }
        end
      end
    end
  end
  local path, at = {}, distance[to] and to
  while at do table.insert(path, 1, at) at = before[at] end
  return table.concat(path, ">"), distance[to]
end
for _ = 1, 20 do route("a", "e") end
print(route("a", "e"))
print(route("e", "b"))
print(route("a", "y"))
