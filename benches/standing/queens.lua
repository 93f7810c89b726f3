-- The queens of an n x n board: all solutions by recursion, with objects, and without recursion.

-- 1. Recursion, as in a textbook: does a queen at (row, column) meet one placed before?
local function is_safe(board, row, column)
  for r = 1, row - 1 do
    local c = board[r]
    if c == column or c - r == column - row or c + r == column + row then
      return false
    end
  end
  return true
end

local function place(board, row, n, visit)
  if row > n then
    visit(board)
    return
  end
  for column = 1, n do
    if is_safe(board, row, column) then
      board[row] = column
      place(board, row + 1, n, visit)
    end
  end
end

-- 2. A board that knows which columns and diagonals are taken.
local Board = {}
Board.__index = Board

function Board.new(n)
  local self = setmetatable({ n = n, columns = {}, up = {}, down = {}, queens = {}, tries = 0 }, Board)
  for i = 1, n do self.columns[i] = false end
  for i = 1, 2 * n do
    self.up[i] = false
    self.down[i] = false
  end
  return self
end

function Board:free(row, column)
  self.tries = self.tries + 1
  return not (self.columns[column] or self.up[row + column] or self.down[row - column + self.n])
end

function Board:set(row, column, taken)
  self.columns[column] = taken
  self.up[row + column] = taken
  self.down[row - column + self.n] = taken
end

-- Stops at the first solution.
function Board:solve(row)
  if row > self.n then return true end
  for column = 1, self.n do
    if self:free(row, column) then
      self:set(row, column, true)
      self.queens[row] = column
      if self:solve(row + 1) then return true end
      self:set(row, column, false)
    end
  end
  return false
end

function Board:draw()
  local lines = {}
  for row = 1, self.n do
    local q = self.queens[row]
    lines[row] = string.rep(".", q - 1) .. "Q" .. string.rep(".", self.n - q)
  end
  return table.concat(lines, "\n")
end

-- 3. Without recursion: one loop that goes forward and back.
local function count_by_loop(n)
  local board, columns, up, down = {}, {}, {}, {}
  local count, row = 0, 1
  board[1] = 0
  while row > 0 do
    local column = board[row]
    if column > 0 then
      columns[column], up[row + column], down[row - column] = nil, nil, nil
    end
    column = column + 1
    while column <= n and (columns[column] or up[row + column] or down[row - column]) do
      column = column + 1
    end
    if column > n then
      row = row - 1
    elseif row == n then
      count = count + 1
      board[row] = 0
      row = row - 1
    else
      board[row] = column
      columns[column], up[row + column], down[row - column] = true, true, true
      row = row + 1
      board[row] = 0
    end
  end
  return count
end

-- How many of the solutions differ when boards may be turned and mirrored.
local function key(board, n)
  local k = 0
  for i = 1, n do k = k * 10 + board[i] end
  return k
end

local function smallest_image(board, n)
  local best = key(board, n)
  local current = board
  for turn = 1, 4 do
    local turned, mirrored = {}, {}
    for row = 1, n do
      turned[current[row]] = n + 1 - row
    end
    for row = 1, n do mirrored[row] = n + 1 - turned[row] end
    best = math.min(best, key(turned, n), key(mirrored, n))
    current = turned
  end
  return best
end

for n = 4, 8 do
  local all, distinct, seen, sum = 0, 0, {}, 0
  place({}, 1, n, function(board)
    all = all + 1
    local image = smallest_image(board, n)
    if not seen[image] then
      seen[image] = true
      distinct = distinct + 1
      sum = sum + image
    end
  end)
  print(string.format("n = %d: %d solutions, %d distinct, %d", n, all, distinct, sum))
end

local middle = {}
place({}, 1, 9, function(board)
  middle[board[5]] = (middle[board[5]] or 0) + 1
end)
print("n = 9, column of the fifth queen: " .. table.concat(middle, " "))

for n = 5, 10 do
  print(string.format("n = %d by loop: %d", n, count_by_loop(n)))
end

local tries = 0
for n = 10, 21 do
  local board = Board.new(n)
  assert(board:solve(1))
  tries = tries + board.tries
  if n == 21 then print(board:draw()) end
end
print("tries for the first solutions: " .. tries)
