-- Towers of Hanoi with disk objects on piles. A pile is a list of disks, the top first, and complains
-- when a disk is laid on a smaller one.

local Disk = {}
Disk.__index = Disk

function Disk.new(size)
  local disk = { size = size, below = nil, moves = 0 }
  setmetatable(disk, Disk)
  return disk
end

function Disk:fits_on(other)
  return other == nil or self.size < other.size
end

local Pile = {}
Pile.__index = Pile

function Pile.new(name)
  return setmetatable({ name = name, top = nil, height = 0, highest = 0 }, Pile)
end

function Pile:push(disk)
  local top = self.top
  if not disk:fits_on(top) then
    error("disk " .. disk.size .. " does not fit on " .. top.size .. " of pile " .. self.name)
  end
  disk.below = top
  self.top = disk
  self.height = self.height + 1
  if self.height > self.highest then self.highest = self.height end
end

function Pile:pop()
  local disk = self.top
  if disk == nil then error("pile " .. self.name .. " is empty") end
  self.top = disk.below
  disk.below = nil
  self.height = self.height - 1
  return disk
end

function Pile:sizes()
  local list, disk = {}, self.top
  while disk do
    list[#list + 1] = disk.size
    disk = disk.below
  end
  return table.concat(list, ",")
end

local Game = {}
Game.__index = Game

function Game.new(piles, disks)
  local game = setmetatable({ piles = {}, moves = 0, trail = 0 }, Game)
  for i = 1, piles do
    game.piles[i] = Pile.new(string.char(64 + i))
  end
  for size = disks, 1, -1 do
    game.piles[1]:push(Disk.new(size))
  end
  return game
end

function Game:move(from, to)
  local disk = self.piles[from]:pop()
  self.piles[to]:push(disk)
  disk.moves = disk.moves + 1
  self.moves = self.moves + 1
  self.trail = (self.trail * 31 + disk.size * 9 + from * 3 + to) % 1000003
end

-- Three piles, by recursion.
function Game:transfer(n, from, to)
  if n == 1 then
    self:move(from, to)
    return
  end
  local other = 6 - from - to
  self:transfer(n - 1, from, other)
  self:move(from, to)
  self:transfer(n - 1, other, to)
end

-- Three piles, without recursion: the smallest disk walks around, and between its steps there is one move only.
function Game:walk()
  local n = self.piles[1].height
  local step = n % 2 == 0 and 1 or 2
  local small = 1
  local goal = 3
  while self.piles[goal].height < n do
    local next_pile = (small - 1 + step) % 3 + 1
    self:move(small, next_pile)
    small = next_pile
    local a, b = small % 3 + 1, (small + 1) % 3 + 1
    local top_a, top_b = self.piles[a].top, self.piles[b].top
    if top_a and top_a:fits_on(top_b) then
      self:move(a, b)
    elseif top_b then
      self:move(b, a)
    end
  end
end

-- With four piles: the best split is looked up in a table that is made first.
local function best_splits(limit)
  local moves, split = { [0] = 0, 1 }, { 0 }
  for n = 2, limit do
    moves[n] = math.huge
    for k = 1, n - 1 do
      local m = 2 * moves[k] + 2 ^ (n - k) - 1
      if m < moves[n] then moves[n], split[n] = m, k end
    end
  end
  return split, moves
end

function Game:transfer_by_three(n, from, to, spare)
  if n == 0 then return end
  self:transfer_by_three(n - 1, from, spare, to)
  self:move(from, to)
  self:transfer_by_three(n - 1, spare, to, from)
end

function Game:transfer_by_four(n, from, to, spare1, spare2, split)
  if n == 0 then return end
  if n == 1 then return self:move(from, to) end
  local k = split[n]
  self:transfer_by_four(k, from, spare1, spare2, to, split)
  self:transfer_by_three(n - k, from, to, spare2)
  self:transfer_by_four(k, spare1, to, from, spare2, split)
end

function Game:report(title)
  local lines = {}
  for i, pile in ipairs(self.piles) do
    lines[i] = pile.name .. "=[" .. pile:sizes() .. "] highest " .. pile.highest
  end
  print(string.format("%s: %d moves, trail %d, %s", title, self.moves, self.trail, table.concat(lines, ", ")))
end

for n = 3, 19, 2 do
  local game = Game.new(3, n)
  game:transfer(n, 1, 3)
  game:report("recursion, " .. n)
end

for n = 4, 17 do
  local game = Game.new(3, n)
  game:walk()
  if n % 5 == 0 then game:report("walk, " .. n) end
  assert(game.moves == 2 ^ n - 1)
end

local split, moves = best_splits(100)
for n = 10, 100, 10 do
  local game = Game.new(4, n)
  game:transfer_by_four(n, 1, 4, 2, 3, split)
  assert(game.moves == moves[n])
  if n <= 20 then
    game:report("four piles, " .. n)
  else
    print(string.format("four piles, %d: %d moves, trail %d", n, game.moves, game.trail))
  end
end

-- A wrong move is refused.
local game = Game.new(3, 4)
game:move(1, 2)
local ok, message = pcall(game.move, game, 1, 2)
print(ok, (message:gsub("^.-:%d+: ", "")))
