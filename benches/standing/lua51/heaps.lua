-- Priority queues: a binary heap, a pairing heap and a leftist heap with the same interface and a comparator each,
-- used by five small programs. Each heap is an object made of closures.

local function less(a, b) return a < b end

local function BinaryHeap(before)
    before = before or less
    local items, size = {}, 0
    local self = {}

    local function sift_up(i)
        local item = items[i]
        while i > 1 do
            local parent = math.floor(i / 2)
            if not before(item, items[parent]) then break end
            items[i] = items[parent]
            i = parent
        end
        items[i] = item
    end

    local function sift_down(i)
        local item = items[i]
        while 2 * i <= size do
            local child = 2 * i
            if child < size and before(items[child + 1], items[child]) then child = child + 1 end
            if not before(items[child], item) then break end
            items[i] = items[child]
            i = child
        end
        items[i] = item
    end

    function self.push(item)
        size = size + 1
        items[size] = item
        sift_up(size)
    end

    function self.pop()
        if size == 0 then return nil end
        local top = items[1]
        items[1] = items[size]
        items[size] = nil
        size = size - 1
        if size > 1 then sift_down(1) end
        return top
    end

    function self.peek() return items[1] end
    function self.size() return size end

    function self.fill(list)
        size = #list
        for i = 1, size do items[i] = list[i] end
        for i = math.floor(size / 2), 1, -1 do sift_down(i) end
    end

    return self
end

local function PairingHeap(before)
    before = before or less
    local root, size = nil, 0
    local self = {}

    local function meld(a, b)
        if not a then return b end
        if not b then return a end
        if before(b.item, a.item) then a, b = b, a end
        b.next = a.child
        a.child = b
        return a
    end

    function self.push(item)
        root = meld(root, { item = item })
        size = size + 1
    end

    function self.pop()
        if not root then return nil end
        local top = root.item
        -- Two by two from the left, then all from the right.
        local pairs_list, child = nil, root.child
        while child do
            local first, second = child, child.next
            child = second and second.next
            first.next = nil
            if second then second.next = nil end
            local both = meld(first, second)
            both.next = pairs_list
            pairs_list = both
        end
        root = nil
        while pairs_list do
            local rest = pairs_list.next
            pairs_list.next = nil
            root = meld(root, pairs_list)
            pairs_list = rest
        end
        size = size - 1
        return top
    end

    function self.peek() return root and root.item end
    function self.size() return size end
    function self.fill(list)
        for _, item in ipairs(list) do self.push(item) end
    end
    return self
end

local function LeftistHeap(before)
    before = before or less
    local root, size = nil, 0
    local self = {}

    local function merge(a, b)
        if not a then return b end
        if not b then return a end
        if before(b.item, a.item) then a, b = b, a end
        a.right = merge(a.right, b)
        if not a.left or a.left.rank < a.right.rank then a.left, a.right = a.right, a.left end
        a.rank = a.right and a.right.rank + 1 or 1
        return a
    end

    function self.push(item)
        root = merge(root, { item = item, rank = 1 })
        size = size + 1
    end
    function self.pop()
        if not root then return nil end
        local top = root.item
        root = merge(root.left, root.right)
        size = size - 1
        return top
    end
    function self.peek() return root and root.item end
    function self.size() return size end
    function self.fill(list)
        for _, item in ipairs(list) do self.push(item) end
    end
    return self
end

----------------------------------------------------------------

local seed
local function random(n)
    seed = seed * 16807 % 2147483647
    return seed % n + 1
end

-- Sorting numbers, downwards.
local function sort_numbers(Heap, n)
    local list = {}
    for i = 1, n do list[i] = random(1000000) end
    local heap = Heap(function(a, b) return a > b end)
    heap.fill(list)
    local sum, last = 0, math.huge
    for i = 1, n do
        local value = heap.pop()
        assert(value <= last)
        last = value
        sum = (sum + value * i) % 1000000007
    end
    return sum
end

-- Records by several keys.
local function sort_people(Heap, n)
    local heap = Heap(function(a, b)
        if a.family ~= b.family then return a.family < b.family end
        if a.age ~= b.age then return a.age > b.age end
        return a.id < b.id
    end)
    local families = { "Ash", "Birch", "Cedar", "Elm", "Fir", "Hazel", "Ashe", "Elmer" }
    for id = 1, n do heap.push({ id = id, family = families[random(#families)], age = random(90) }) end
    local sum = 0
    for place = 1, n do
        local person = heap.pop()
        sum = (sum * 3 + person.id * place) % 1000000007
    end
    return sum
end

-- Shortest ways in a random graph.
local function shortest(Heap, nodes, edges)
    local graph = {}
    for i = 1, nodes do graph[i] = {} end
    for _ = 1, edges do
        local from = graph[random(nodes)]
        from[#from + 1] = { to = random(nodes), length = random(100) / 4 }
    end
    local distance = { 0 }
    local heap = Heap(function(a, b) return a.distance < b.distance or (a.distance == b.distance and a.node < b.node) end)
    heap.push({ node = 1, distance = 0 })
    local reached, total = 0, 0
    while heap.size() > 0 do
        local entry = heap.pop()
        if entry.distance == distance[entry.node] then
            reached = reached + 1
            total = total + entry.distance
            for _, edge in ipairs(graph[entry.node]) do
                local d = entry.distance + edge.length
                if not distance[edge.to] or d < distance[edge.to] then
                    distance[edge.to] = d
                    heap.push({ node = edge.to, distance = d })
                end
            end
        end
    end
    return reached, total
end

-- The median of all numbers so far, by two heaps.
local function medians(Heap, n)
    local low, high = Heap(function(a, b) return a > b end), Heap()
    local sum = 0
    for i = 1, n do
        local value = random(1000) * random(1000)
        if low.size() == 0 or value <= low.peek() then low.push(value) else high.push(value) end
        if low.size() > high.size() + 1 then high.push(low.pop())
        elseif high.size() > low.size() then low.push(high.pop()) end
        if i % 10 == 0 then sum = sum + low.peek() end
    end
    return sum
end

-- Tasks with deadlines: what is late is counted, some come back.
local function schedule(Heap, n)
    local heap = Heap(function(a, b)
        if a.due == b.due then return a.name < b.name end
        return a.due < b.due
    end)
    local clock, done, late, made = 0, 0, 0, 0
    while done < n do
        while made < n and random(3) > 1 do
            made = made + 1
            heap.push({ name = string.format("task %05d", random(99999)), due = clock + random(200), work = random(5) })
        end
        local task = heap.pop()
        if task then
            clock = clock + task.work
            if clock > task.due and random(4) == 1 then
                task.due = task.due + 100
                heap.push(task)
            else
                done = done + 1
                if clock > task.due then late = late + 1 end
            end
        else
            clock = clock + 1
        end
    end
    return clock, late
end

local kinds = { { "binary", BinaryHeap }, { "pairing", PairingHeap }, { "leftist", LeftistHeap } }
for _, kind in ipairs(kinds) do
    local name, Heap = kind[1], kind[2]
    seed = 1234567
    local reached, total = 0, 0
    local numbers, people = sort_numbers(Heap, 13000), sort_people(Heap, 6000)
    for _ = 1, 3 do
        local r, t = shortest(Heap, 1500, 6000)
        reached, total = reached + r, total + t
    end
    local median = medians(Heap, 12000)
    local clock, late = schedule(Heap, 8000)
    print(string.format("%-8s %d %d %d %.2f %d %d %d", name, numbers, people, reached, total, median, clock, late))
end
