-- A* over grids: caves, mazes and open land with costs, with a binary heap, on foot (4 ways) and flying (8 ways).
-- Path lengths are checked against Dijkstra's algorithm (the same search without an estimate).

local PathFinder = {}
PathFinder.__index = PathFinder

---- grid

local Grid = {}
Grid.__index = Grid

function Grid.new(width, height)
  local grid = setmetatable({ width = width, height = height, nodes = {} }, Grid)
  for y = 1, height do
    grid.nodes[y] = {}
    for x = 1, width do
      grid.nodes[y][x] = { x = x, y = y, cost = 1, run = 0 }
    end
  end
  return grid
end

function Grid:at(x, y)
  local row = self.nodes[y]
  return row and row[x]
end

function Grid:isWalkable(x, y)
  local node = self:at(x, y)
  return node and node.cost < math.huge
end

local straight = { { 1, 0 }, { 0, 1 }, { -1, 0 }, { 0, -1 } }
local diagonal = { { 1, 1 }, { -1, 1 }, { -1, -1 }, { 1, -1 } }

function Grid:neighbours(node, allowDiagonal)
  local result = {}
  for _, d in ipairs(straight) do
    if self:isWalkable(node.x + d[1], node.y + d[2]) then
      result[#result + 1] = self:at(node.x + d[1], node.y + d[2])
    end
  end
  if allowDiagonal then
    for _, d in ipairs(diagonal) do
      -- No corner is cut.
      if self:isWalkable(node.x + d[1], node.y + d[2]) and self:isWalkable(node.x + d[1], node.y)
        and self:isWalkable(node.x, node.y + d[2]) then
        result[#result + 1] = self:at(node.x + d[1], node.y + d[2])
      end
    end
  end
  return result
end

---- estimates

local estimates = {
  manhattan = function(a, b)
    return math.abs(a.x - b.x) + math.abs(a.y - b.y)
  end,
  octile = function(a, b)
    local dx, dy = math.abs(a.x - b.x), math.abs(a.y - b.y)
    return math.max(dx, dy) + (math.sqrt(2) - 1) * math.min(dx, dy)
  end,
  none = function() return 0 end,
}

---- open list: a binary heap of nodes by f, then by g (deeper first), then by place

local Heap = {}
Heap.__index = Heap

function Heap.new() return setmetatable({ size = 0 }, Heap) end

local function before(a, b)
  if a.f ~= b.f then return a.f < b.f end
  if a.g ~= b.g then return a.g > b.g end
  if a.y ~= b.y then return a.y < b.y end
  return a.x < b.x
end

function Heap:up(i)
  local node = self[i]
  while i > 1 do
    local parent = math.floor(i / 2)
    if not before(node, self[parent]) then break end
    self[i] = self[parent]
    self[i].index = i
    i = parent
  end
  self[i] = node
  node.index = i
end

function Heap:down(i)
  local node = self[i]
  while true do
    local child = 2 * i
    if child > self.size then break end
    if child < self.size and before(self[child + 1], self[child]) then child = child + 1 end
    if not before(self[child], node) then break end
    self[i] = self[child]
    self[i].index = i
    i = child
  end
  self[i] = node
  node.index = i
end

function Heap:push(node)
  self.size = self.size + 1
  self[self.size] = node
  self:up(self.size)
end

function Heap:pop()
  local top = self[1]
  local last = self[self.size]
  self[self.size] = nil
  self.size = self.size - 1
  if self.size > 0 then
    self[1] = last
    self:down(1)
  end
  return top
end

---- search

function PathFinder.new(grid, options)
  return setmetatable({ grid = grid, estimate = estimates[options.estimate], diagonal = options.diagonal,
    run = 0, expanded = 0 }, PathFinder)
end

function PathFinder:find(startX, startY, goalX, goalY)
  local start, goal = self.grid:at(startX, startY), self.grid:at(goalX, goalY)
  self.grid.run = (self.grid.run or 0) + 1
  local run = self.grid.run
  local open = Heap.new()
  start.run, start.g, start.closed, start.parent = run, 0, false, nil
  start.f = self.estimate(start, goal)
  open:push(start)
  while open.size > 0 do
    local node = open:pop()
    node.closed = true
    self.expanded = self.expanded + 1
    if node == goal then return self:trace(node), node.g end
    for _, other in ipairs(self.grid:neighbours(node, self.diagonal)) do
      local fresh = other.run ~= run
      if fresh or not other.closed then
        local step = other.cost
        if other.x ~= node.x and other.y ~= node.y then step = step * math.sqrt(2) end
        local g = node.g + step
        if fresh or g < other.g then
          other.g, other.f, other.parent = g, g + self.estimate(other, goal), node
          if fresh then
            other.run, other.closed = run, false
            open:push(other)
          else
            open:up(other.index)
          end
        end
      end
    end
  end
  return nil
end

function PathFinder:trace(node)
  local path = {}
  while node do
    table.insert(path, node)
    node = node.parent
  end
  for i = 1, math.floor(#path / 2) do
    path[i], path[#path - i + 1] = path[#path - i + 1], path[i]
  end
  return path
end

---- maps

local seed = 424242
local function random(n)
  seed = seed * 16807 % 2147483647
  return seed % n + 1
end

local function caves(width, height)
  local grid = Grid.new(width, height)
  for y = 1, height do
    for x = 1, width do
      if random(100) <= 42 then grid:at(x, y).cost = math.huge end
    end
  end
  for _ = 1, 4 do
    local walls = {}
    for y = 1, height do
      for x = 1, width do
        local n = 0
        for dy = -1, 1 do
          for dx = -1, 1 do
            if not grid:isWalkable(x + dx, y + dy) then n = n + 1 end
          end
        end
        if n >= 5 then walls[#walls + 1] = true else walls[#walls + 1] = false end
      end
    end
    for i, wall in ipairs(walls) do
      local x, y = (i - 1) % width + 1, math.floor((i - 1) / width) + 1
      grid:at(x, y).cost = wall and math.huge or 1
    end
  end
  return grid
end

local function maze(width, height)
  local grid = Grid.new(width, height)
  for y = 1, height do
    for x = 1, width do
      if x % 2 == 0 or y % 2 == 0 then grid:at(x, y).cost = math.huge end
    end
  end
  local stack, seen = { grid:at(1, 1) }, { [grid:at(1, 1)] = true }
  while #stack > 0 do
    local node = stack[#stack]
    local ways = {}
    for _, d in ipairs(straight) do
      local other = grid:at(node.x + 2 * d[1], node.y + 2 * d[2])
      if other and not seen[other] then ways[#ways + 1] = other end
    end
    if #ways == 0 then
      table.remove(stack)
    else
      local other = ways[random(#ways)]
      seen[other] = true
      grid:at((node.x + other.x) / 2, (node.y + other.y) / 2).cost = 1
      stack[#stack + 1] = other
    end
  end
  for _ = 1, width do
    local node = grid:at(random(width), random(height))
    if node.x % 2 ~= node.y % 2 then node.cost = 1 end
  end
  return grid
end

local function land(width, height)
  local grid = Grid.new(width, height)
  for _ = 1, 60 do
    local cx, cy, radius, cost = random(width), random(height), random(12), random(4)
    for y = math.max(1, cy - radius), math.min(height, cy + radius) do
      for x = math.max(1, cx - radius), math.min(width, cx + radius) do
        if (x - cx) ^ 2 + (y - cy) ^ 2 <= radius * radius then
          grid:at(x, y).cost = cost == 4 and math.huge or 2 * cost
        end
      end
    end
  end
  return grid
end

---- the work

local function visit(name, grid, searches, options)
  local finder = PathFinder.new(grid, options)
  local plain = PathFinder.new(grid, { estimate = "none", diagonal = options.diagonal })
  local found, steps, cost, sum = 0, 0, 0, 0
  for i = 1, searches do
    local x1, y1, x2, y2
    repeat x1, y1 = random(grid.width), random(grid.height) until grid:isWalkable(x1, y1)
    repeat x2, y2 = random(grid.width), random(grid.height) until grid:isWalkable(x2, y2)
    local path, length = finder:find(x1, y1, x2, y2)
    if path then
      found = found + 1
      steps = steps + #path
      cost = cost + length
      for _, node in ipairs(path) do sum = (sum * 17 + node.x * 311 + node.y) % 1000000007 end
    end
    if i % 8 == 0 then
      local _, shortest = plain:find(x1, y1, x2, y2)
      assert(path and math.abs(shortest - length) < 1e-6 or not shortest)
    end
  end
  print(string.format("%-14s found %3d of %3d, %5d steps, cost %.4f, expanded %6d and %6d, sum %d", name, found, searches,
    steps, cost, finder.expanded, plain.expanded, sum))
end

visit("caves", caves(120, 70), 40, { estimate = "manhattan" })
visit("caves, flying", caves(80, 80), 40, { estimate = "octile", diagonal = true })
visit("maze", maze(101, 61), 30, { estimate = "manhattan" })
visit("land", land(110, 60), 30, { estimate = "manhattan" })
visit("land, flying", land(70, 70), 30, { estimate = "octile", diagonal = true })
