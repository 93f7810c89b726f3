-- A map kept in order: an AVL tree of node objects. Insert, look up, delete, walk.
-- After that, many short-lived trees.

local Node = {}
Node.__index = Node

function Node.new(key, value)
  return setmetatable({ key = key, value = value, height = 1 }, Node)
end

local function height(node)
  return node and node.height or 0
end

function Node:update()
  local l, r = height(self.left), height(self.right)
  self.height = (l > r and l or r) + 1
  return self
end

function Node:balance()
  return height(self.left) - height(self.right)
end

function Node:rotate_right()
  local top = self.left
  self.left = top.right
  top.right = self:update()
  return top:update()
end

function Node:rotate_left()
  local top = self.right
  self.right = top.left
  top.left = self:update()
  return top:update()
end

function Node:rebalance()
  self:update()
  local balance = self:balance()
  if balance > 1 then
    if self.left:balance() < 0 then self.left = self.left:rotate_left() end
    return self:rotate_right()
  elseif balance < -1 then
    if self.right:balance() > 0 then self.right = self.right:rotate_right() end
    return self:rotate_left()
  end
  return self
end

local Tree = {}
Tree.__index = Tree

function Tree.new()
  return setmetatable({ root = nil, size = 0 }, Tree)
end

function Tree:insert(key, value)
  local function go(node)
    if not node then
      self.size = self.size + 1
      return Node.new(key, value)
    end
    if key == node.key then
      node.value = value
      return node
    elseif key < node.key then
      node.left = go(node.left)
    else
      node.right = go(node.right)
    end
    return node:rebalance()
  end
  self.root = go(self.root)
end

function Tree:get(key)
  local node = self.root
  while node do
    if key == node.key then return node.value end
    if key < node.key then node = node.left else node = node.right end
  end
  return nil
end

local function take_smallest(node)
  if not node.left then return node, node.right end
  local smallest
  smallest, node.left = take_smallest(node.left)
  return smallest, node:rebalance()
end

function Tree:delete(key)
  local found = false
  local function go(node)
    if not node then return nil end
    if key < node.key then
      node.left = go(node.left)
    elseif key > node.key then
      node.right = go(node.right)
    else
      found = true
      self.size = self.size - 1
      if not node.left then return node.right end
      if not node.right then return node.left end
      local next_node, rest = take_smallest(node.right)
      next_node.left, next_node.right = node.left, rest
      return next_node:rebalance()
    end
    return node:rebalance()
  end
  self.root = go(self.root)
  return found
end

-- An iterator in the order of the keys; it keeps the path from the root.
function Tree:pairs()
  local stack, node = {}, self.root
  return function()
    while node do
      stack[#stack + 1] = node
      node = node.left
    end
    local top = table.remove(stack)
    if not top then return nil end
    node = top.right
    return top.key, top.value
  end
end

function Tree:range(low, high, visit)
  local function go(node)
    if not node then return end
    if low < node.key then go(node.left) end
    if low <= node.key and node.key <= high then visit(node.key, node.value) end
    if node.key < high then go(node.right) end
  end
  go(self.root)
end

local seed = 2024
local function random(n)
  seed = (seed * 48271) % 2147483647
  return seed % n + 1
end

-- 1. Numbers: insert, look up, delete.
local tree = Tree.new()
for i = 1, 36000 do
  tree:insert(random(50000), i)
end
print(string.format("size %d, height %d", tree.size, tree.root.height))

local hits, sum = 0, 0
for _ = 1, 120000 do
  local value = tree:get(random(50000))
  if value then
    hits = hits + 1
    sum = sum + value
  end
end
print(string.format("hits %d, sum %d", hits, sum))

local deleted = 0
for _ = 1, 24000 do
  if tree:delete(random(50000)) then deleted = deleted + 1 end
end
local check, last, ordered = 0, 0, true
for key, value in tree:pairs() do
  check = (check * 31 + key + value) % 1000003
  if key <= last then ordered = false end
  last = key
end
print(string.format("deleted %d, size %d, height %d, check %d, ordered %s",
  deleted, tree.size, tree.root.height, check, tostring(ordered)))

local in_range = 0
for _ = 1, 200 do
  local low = random(49000)
  tree:range(low, low + 300, function(key) in_range = in_range + key % 10 end)
end
print("in range " .. in_range)

-- 2. Words: how often does each occur?
local syllables = { "ka", "lo", "mi", "tu", "ra", "se", "no", "vi" }
local words = Tree.new()
for _ = 1, 16000 do
  local parts = {}
  for i = 1, 1 + random(3) do
    parts[i] = syllables[math.min(random(8), random(8))]
  end
  local word = table.concat(parts)
  words:insert(word, (words:get(word) or 0) + 1)
end
local best, best_count, letters = nil, 0, 0
for word, count in words:pairs() do
  letters = letters + #word
  if count > best_count then best, best_count = word, count end
end
print(string.format("words %d, letters %d, most often %s (%d)", words.size, letters, best, best_count))

-- 3. Short-lived trees: full ones, of several depths.
local function bottom_up(depth)
  if depth == 0 then return {} end
  return { left = bottom_up(depth - 1), right = bottom_up(depth - 1) }
end

local function count(node)
  if not node.left then return 1 end
  return 1 + count(node.left) + count(node.right)
end

local long_lived = bottom_up(14)
for depth = 4, 12, 4 do
  local trees, nodes = 2 ^ (14 - depth), 0
  for _ = 1, trees do
    nodes = nodes + count(bottom_up(depth))
  end
  print(string.format("%d trees of depth %d: %d nodes", trees, depth, nodes))
end
print("long-lived " .. count(long_lived))
