-- Recursion over objects that are made meanwhile: collections at every depth, and results in constructors.
local function bottom(depth)
  if depth == 0 then return { count = 1 } end
  local left, right = bottom(depth - 1), bottom(depth - 1)
  return { left = left, right = right, count = left.count + right.count + 1 }
end
local function check(tree)
  if not tree.left then return 1 end
  return 1 + check(tree.left) + check(tree.right)
end
local function open_tree(depth)
  if depth == 0 then return {} end
  return { open_tree(depth - 1), open_tree(depth - 1) }
end
local function open_check(tree)
  if tree[1] then return 1 + open_check(tree[1]) + open_check(tree[2]) end
  return 1
end
for depth = 1, 9 do print(depth, check(bottom(depth)), open_check(open_tree(depth))) end
local Node = {}
Node.__index = Node
function Node.new(key) return setmetatable({ key = key }, Node) end
function Node:insert(key)
  if key == self.key then return false end
  local side = key < self.key and "below" or "above"
  local child = self[side]
  if child then return child:insert(key) end
  self[side] = Node.new(key)
  return true
end
function Node:depth()
  local below = self.below and self.below:depth() or 0
  local above = self.above and self.above:depth() or 0
  return 1 + (below > above and below or above)
end
function Node:walk(visit)
  if self.below then self.below:walk(visit) end
  visit(self.key)
  if self.above then self.above:walk(visit) end
end
local root, state, inserted = Node.new(500), 1, 0
for _ = 1, 900 do
  state = state * 1103515245 + 12345 & 0x7fffffff
  if root:insert(state % 1000) then inserted = inserted + 1 end
end
local sum, last, sorted = 0, -1, true
root:walk(function(key) sum = sum + key sorted = sorted and key > last last = key end)
print(inserted, root:depth(), sum, sorted)
local weak = setmetatable({}, { __mode = "k" })
local function leaves(n)
  local object = {}
  weak[object] = n
  if n == 0 then return 1 end
  return leaves(n - 1) + leaves(n - 1)
end
print(leaves(9))
collectgarbage()
collectgarbage()
print(next(weak))
