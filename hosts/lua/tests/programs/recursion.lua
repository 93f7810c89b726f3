-- Recursion: plain, mutual, tail calls, many results, methods.
local function ackermann(m, n)
  if m == 0 then return n + 1 end
  if n == 0 then return ackermann(m - 1, 1) end
  return ackermann(m - 1, ackermann(m, n - 1))
end
print(ackermann(2, 20))
local is_even, is_odd
function is_even(n) if n == 0 then return true end return is_odd(n - 1) end
function is_odd(n) if n == 0 then return false end return is_even(n - 1) end
for i = 1, 60, 7 do io.write(tostring(is_even(i)), " ") end
print()
local function hanoi(n, from, to, via, moves)
  if n == 0 then return moves end
  moves = hanoi(n - 1, from, via, to, moves)
  moves[#moves + 1] = from .. to
  return hanoi(n - 1, via, to, from, moves)
end
print(#hanoi(9, "a", "b", "c", {}), table.concat(hanoi(4, "a", "b", "c", {}), " "))
local function permutations(list, n, visit)
  if n == 0 then return visit(list) end
  for i = 1, n do
    list[i], list[n] = list[n], list[i]
    permutations(list, n - 1, visit)
    list[i], list[n] = list[n], list[i]
  end
end
local seen = 0
permutations({ 1, 2, 3, 4, 5 }, 5, function(list) seen = (seen * 7 + list[1] * 100 + list[3]) % 1000003 end)
print(seen)
local function quicksort(list, low, high)
  if low < high then
    local pivot, i = list[high], low - 1
    for j = low, high - 1 do
      if list[j] <= pivot then i = i + 1; list[i], list[j] = list[j], list[i] end
    end
    list[i + 1], list[high] = list[high], list[i + 1]
    quicksort(list, low, i)
    quicksort(list, i + 2, high)
  end
  return list
end
local numbers = {}
for i = 1, 120 do numbers[i] = (i * 7919) % 541 end
print(table.concat(quicksort(numbers, 1, #numbers), " "))
local Node = {}
Node.__index = Node
function Node.insert(root, key)
  if root == nil then return setmetatable({ key = key }, Node) end
  if key < root.key then root.left = Node.insert(root.left, key) else root.right = Node.insert(root.right, key) end
  return root
end
function Node:depth() return 1 + math.max(self.left and self.left:depth() or 0, self.right and self.right:depth() or 0) end
function Node:sum() return self.key + (self.left and self.left:sum() or 0) + (self.right and self.right:sum() or 0) end
local root
for i = 1, 150 do root = Node.insert(root, (i * 53) % 307) end
print(root:depth(), root:sum())
local function loop(n, total) if n == 0 then return total end return loop(n - 1, total + n) end
print(loop(3000, 0))
