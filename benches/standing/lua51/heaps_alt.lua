-- The programs of heaps.lua as another programmer would write them: heaps are classes with methods, a comparator is
-- a method that may be replaced, loops are while loops or recursion, and helpers do the small steps.

local bit = require("bit")

local Heap = {}
Heap.__index = Heap

function Heap:extend()
  local class = setmetatable({}, { __index = self })
  class.__index = class
  return class
end

function Heap:new(comparator)
  local heap = setmetatable({ count = 0 }, self)
  if comparator then heap.compare = comparator end
  heap:clear()
  return heap
end

function Heap.compare(a, b) return a < b end
function Heap:clear() end
function Heap:isEmpty() return self.count == 0 end
function Heap:fill(list)
  local i = 1
  while list[i] ~= nil do
    self:push(list[i])
    i = i + 1
  end
end

-- Binary heap in an array.
local Binary = Heap:extend()

function Binary:clear() self.array = {} end
function Binary:before(i, j) return self.compare(self.array[i], self.array[j]) end
function Binary:swap(i, j)
  local array = self.array
  array[i], array[j] = array[j], array[i]
end

function Binary:climb(i)
  local parent = bit.rshift(i, 1)
  if parent >= 1 and self:before(i, parent) then
    self:swap(i, parent)
    return self:climb(parent)
  end
end

function Binary:sink(i)
  local best, left = i, bit.lshift(i, 1)
  if left <= self.count and self:before(left, best) then best = left end
  if left + 1 <= self.count and self:before(left + 1, best) then best = left + 1 end
  if best ~= i then
    self:swap(i, best)
    return self:sink(best)
  end
end

function Binary:push(value)
  table.insert(self.array, value)
  self.count = self.count + 1
  self:climb(self.count)
end

function Binary:peek() return self.array[1] end

function Binary:pop()
  if self:isEmpty() then return nil end
  self:swap(1, self.count)
  local value = table.remove(self.array)
  self.count = self.count - 1
  self:sink(1)
  return value
end

-- Pairing heap: nodes with a list of children.
local Pairing = Heap:extend()

function Pairing:clear() self.root = nil end

function Pairing:link(a, b)
  if a == nil then return b end
  if b == nil then return a end
  if self.compare(b.value, a.value) then return self:link(b, a) end
  table.insert(a.children, b)
  return a
end

function Pairing:push(value)
  self.count = self.count + 1
  self.root = self:link(self.root, { value = value, children = {} })
end

function Pairing:peek()
  if self.root then return self.root.value end
end

function Pairing:pop()
  local root = self.root
  if not root then return nil end
  local children = root.children
  local n = #children
  local i = 1
  while i < n do
    children[i] = self:link(children[i], children[i + 1])
    i = i + 2
  end
  i = n - 1 + n % 2
  local new
  while i >= 1 do
    new = self:link(new, children[i])
    i = i - 2
  end
  self.root = new
  self.count = self.count - 1
  return root.value
end

-- Leftist heap: the empty heap is an object, too.
local Leftist = Heap:extend()
local empty = { rank = 0 }

function Leftist:clear() self.root = empty end

local function node(value, a, b)
  if a.rank < b.rank then a, b = b, a end
  return { value = value, left = a, right = b, rank = b.rank + 1 }
end

function Leftist:merge(a, b)
  if a == empty then return b end
  if b == empty then return a end
  if self.compare(b.value, a.value) then a, b = b, a end
  return node(a.value, a.left, self:merge(a.right, b))
end

function Leftist:push(value)
  self.count = self.count + 1
  self.root = self:merge(self.root, node(value, empty, empty))
end

function Leftist:peek() return self.root.value end

function Leftist:pop()
  if self:isEmpty() then return nil end
  local value = self.root.value
  self.root = self:merge(self.root.left, self.root.right)
  self.count = self.count - 1
  return value
end

----------------------------------------------------------------

local Random = { seed = 0 }
function Random:next(n)
  self.seed = self.seed * 16807 % 2147483647
  return self.seed % n + 1
end

local function descending(a, b) return a > b end

local function sortNumbers(class, n)
  local list, i = {}, 1
  while i <= n do
    list[i] = Random:next(1000000)
    i = i + 1
  end
  local heap = class:new(descending)
  heap:fill(list)
  local sum, last, place = 0, math.huge, 0
  while not heap:isEmpty() do
    local value = heap:pop()
    assert(value <= last)
    last = value
    place = place + 1
    sum = (sum + value * place) % 1000000007
  end
  return sum
end

local Person = {}
Person.__index = Person
Person.__lt = function(a, b)
  if a.family == b.family then
    if a.age == b.age then return a.id < b.id end
    return b.age < a.age
  end
  return a.family < b.family
end

local function sortPeople(class, n)
  local heap = class:new()
  local families = { "Ash", "Birch", "Cedar", "Elm", "Fir", "Hazel", "Ashe", "Elmer" }
  local id = 1
  while id <= n do
    local family = families[Random:next(#families)]
    heap:push(setmetatable({ id = id, family = family, age = Random:next(90) }, Person))
    id = id + 1
  end
  local sum, place = 0, 1
  while not heap:isEmpty() do
    sum = (sum * 3 + heap:pop().id * place) % 1000000007
    place = place + 1
  end
  return sum
end

local function closer(a, b)
  if a.distance == b.distance then return a.node < b.node end
  return a.distance < b.distance
end

local function shortest(class, nodes, edges)
  local graph = {}
  while #graph < nodes do table.insert(graph, {}) end
  while edges > 0 do
    local list = graph[Random:next(nodes)]
    local to = Random:next(nodes)
    table.insert(list, { to, Random:next(100) / 4 })
    edges = edges - 1
  end
  local distance = { 0 }
  local queue = class:new(closer)
  local function offer(to, d)
    if distance[to] == nil or d < distance[to] then
      distance[to] = d
      queue:push({ node = to, distance = d })
    end
  end
  queue:push({ node = 1, distance = 0 })
  local reached, total = 0, 0
  repeat
    local entry = queue:pop()
    if distance[entry.node] == entry.distance then
      reached, total = reached + 1, total + entry.distance
      for _, edge in ipairs(graph[entry.node]) do offer(edge[1], entry.distance + edge[2]) end
    end
  until queue:isEmpty()
  return reached, total
end

local Median = {}
Median.__index = Median

function Median.new(class)
  return setmetatable({ low = class:new(descending), high = class:new() }, Median)
end

function Median:add(value)
  if self.low:isEmpty() or value <= self.low:peek() then self.low:push(value) else self.high:push(value) end
  if self.low.count > self.high.count + 1 then
    self.high:push(self.low:pop())
  elseif self.low.count < self.high.count then
    self.low:push(self.high:pop())
  end
end

local function medians(class, n)
  local median, sum, i = Median.new(class), 0, 1
  while i <= n do
    median:add(Random:next(1000) * Random:next(1000))
    if i % 10 == 0 then sum = sum + median.low:peek() end
    i = i + 1
  end
  return sum
end

local Task = {}
Task.__index = Task

function Task.new(clock)
  local task = setmetatable({}, Task)
  task.name = ("task %05d"):format(Random:next(99999))
  task.due = clock + Random:next(200)
  task.work = Random:next(5)
  return task
end
function Task:isLate(clock) return clock > self.due end
function Task.__lt(a, b)
  if a.due ~= b.due then return a.due < b.due end
  return a.name < b.name
end

local function schedule(class, n)
  local queue = class:new()
  local clock, done, late, made = 0, 0, 0, 0
  repeat
    while made < n and Random:next(3) > 1 do
      made = made + 1
      queue:push(Task.new(clock))
    end
    if queue:isEmpty() then
      clock = clock + 1
    else
      local task = queue:pop()
      clock = clock + task.work
      if task:isLate(clock) and Random:next(4) == 1 then
        task.due = task.due + 100
        queue:push(task)
      else
        done = done + 1
        if task:isLate(clock) then late = late + 1 end
      end
    end
  until done >= n
  return clock, late
end

local names, classes = { "binary", "pairing", "leftist" }, { Binary, Pairing, Leftist }
local k = 1
while k <= #names do
  local class = classes[k]
  Random.seed = 1234567
  local numbers = sortNumbers(class, 13000)
  local people = sortPeople(class, 6000)
  local reached, total, runs = 0, 0, 3
  while runs > 0 do
    local r, t = shortest(class, 1500, 6000)
    reached = reached + r
    total = total + t
    runs = runs - 1
  end
  local median = medians(class, 12000)
  local clock, late = schedule(class, 8000)
  print(("%-8s %d %d %d %.2f %d %d %d"):format(names[k], numbers, people, reached, total, median, clock, late))
  k = k + 1
end
