-- The work of trees.lua with arrays instead of node objects: a node is an index, 0 is no node. The tree is a
-- record of closures over its arrays; walks and searches are loops with a stack of their own.

local function make_tree()
    local keys, values, lefts, rights, heights = {}, {}, {}, {}, { [0] = 0 }
    local free, used = 0, 0
    local root, size = 0, 0
    local tree = {}

    local function new_node(key, value)
        local n = free
        if n ~= 0 then
            free = rights[n]
        else
            used = used + 1
            n = used
        end
        keys[n], values[n], lefts[n], rights[n], heights[n] = key, value, 0, 0, 1
        size = size + 1
        return n
    end

    local function drop_node(n)
        keys[n], values[n] = false, false
        rights[n] = free
        free = n
        size = size - 1
    end

    local function update(n)
        local l, r = heights[lefts[n]], heights[rights[n]]
        heights[n] = math.max(l, r) + 1
    end

    local function rotate_right(n)
        local top = lefts[n]
        lefts[n] = rights[top]
        rights[top] = n
        update(n)
        update(top)
        return top
    end

    local function rotate_left(n)
        local top = rights[n]
        rights[n] = lefts[top]
        lefts[top] = n
        update(n)
        update(top)
        return top
    end

    local function rebalance(n)
        local l, r = lefts[n], rights[n]
        local difference = heights[l] - heights[r]
        if difference > 1 then
            if heights[lefts[l]] < heights[rights[l]] then lefts[n] = rotate_left(l) end
            return rotate_right(n)
        end
        if difference < -1 then
            if heights[lefts[r]] > heights[rights[r]] then rights[n] = rotate_right(r) end
            return rotate_left(n)
        end
        update(n)
        return n
    end

    -- The nodes from the root down, and for each of them whether the path then goes left.
    local path, went_left = {}, {}

    local function descend(key)
        local depth, n = 0, root
        while n ~= 0 and keys[n] ~= key do
            depth = depth + 1
            path[depth] = n
            local left = key < keys[n]
            went_left[depth] = left
            n = left and lefts[n] or rights[n]
        end
        return n, depth
    end

    -- Puts 'n' below the last node of the path and mends the nodes above.
    local function hang(n, depth)
        while depth > 0 do
            local above = path[depth]
            if went_left[depth] then lefts[above] = n else rights[above] = n end
            n = rebalance(above)
            depth = depth - 1
        end
        root = n
    end

    function tree.insert(key, value)
        local n, depth = descend(key)
        if n ~= 0 then
            values[n] = value
        else
            hang(new_node(key, value), depth)
        end
    end

    function tree.get(key)
        local n = root
        while n ~= 0 do
            local k = keys[n]
            if k == key then return values[n] end
            n = key < k and lefts[n] or rights[n]
        end
    end

    function tree.delete(key)
        local n, depth = descend(key)
        if n == 0 then return false end
        if lefts[n] == 0 or rights[n] == 0 then
            local child = lefts[n] ~= 0 and lefts[n] or rights[n]
            drop_node(n)
            hang(child, depth)
            return true
        end
        -- The next key moves up, and its old place is cut out.
        depth = depth + 1
        path[depth], went_left[depth] = n, false
        local next_node = rights[n]
        while lefts[next_node] ~= 0 do
            depth = depth + 1
            path[depth], went_left[depth] = next_node, true
            next_node = lefts[next_node]
        end
        keys[n], values[n] = keys[next_node], values[next_node]
        local child = rights[next_node]
        drop_node(next_node)
        hang(child, depth)
        return true
    end

    function tree.each(visit)
        local stack, top, n = {}, 0, root
        while n ~= 0 or top > 0 do
            while n ~= 0 do
                top = top + 1
                stack[top] = n
                n = lefts[n]
            end
            n = stack[top]
            top = top - 1
            visit(keys[n], values[n])
            n = rights[n]
        end
    end

    function tree.range(low, high, visit)
        local stack, top = { root }, 1
        while top > 0 do
            local n = stack[top]
            top = top - 1
            if n ~= 0 then
                local key = keys[n]
                if key > low then
                    top = top + 1
                    stack[top] = lefts[n]
                end
                if key >= low and key <= high then visit(key, values[n]) end
                if key < high then
                    top = top + 1
                    stack[top] = rights[n]
                end
            end
        end
    end

    function tree.size() return size end
    function tree.height() return heights[root] end
    return tree
end

local random
do
    local state = 2024
    random = function(n)
        state = (state * 48271) % 2147483647
        return state % n + 1
    end
end

local function numbers()
    local tree = make_tree()
    local i = 1
    while i <= 36000 do
        tree.insert(random(50000), i)
        i = i + 1
    end
    print(string.format("size %d, height %d", tree.size(), tree.height()))

    local hits, sum, tries = 0, 0, 120000
    while tries > 0 do
        local value = tree.get(random(50000))
        if value ~= nil then
            hits, sum = hits + 1, sum + value
        end
        tries = tries - 1
    end
    print(string.format("hits %d, sum %d", hits, sum))

    local deleted = 0
    tries = 24000
    while tries > 0 do
        deleted = deleted + (tree.delete(random(50000)) and 1 or 0)
        tries = tries - 1
    end
    local check, last, ordered = 0, 0, true
    tree.each(function(key, value)
        check = (check * 31 + key + value) % 1000003
        ordered = ordered and last < key
        last = key
    end)
    print(string.format("deleted %d, size %d, height %d, check %d, ordered %s",
        deleted, tree.size(), tree.height(), check, tostring(ordered)))

    local in_range = 0
    local function add(key) in_range = in_range + key % 10 end
    tries = 200
    while tries > 0 do
        local low = random(49000)
        tree.range(low, low + 300, add)
        tries = tries - 1
    end
    print("in range " .. in_range)
end

local function word_counts()
    local syllables = { "ka", "lo", "mi", "tu", "ra", "se", "no", "vi" }
    local function random_word()
        local word, left = "", 1 + random(3)
        while left > 0 do
            word = word .. syllables[math.min(random(8), random(8))]
            left = left - 1
        end
        return word
    end
    local tree, i = make_tree(), 0
    while i < 16000 do
        local word = random_word()
        local count = tree.get(word)
        tree.insert(word, count and count + 1 or 1)
        i = i + 1
    end
    local best, best_count, letters = nil, 0, 0
    tree.each(function(word, count)
        letters = letters + string.len(word)
        if best_count < count then best, best_count = word, count end
    end)
    print(string.format("words %d, letters %d, most often %s (%d)", tree.size(), letters, best, best_count))
end

-- A full tree as a pair of arrays {left, right}; a leaf is an empty one.
local function bottom_up(depth)
    if depth > 0 then
        local left = bottom_up(depth - 1)
        local right = bottom_up(depth - 1)
        return { left, right }
    end
    return {}
end

local function count(node)
    local nodes, stack, top = 0, { node }, 1
    while top > 0 do
        local t = stack[top]
        stack[top] = nil
        top = top - 1
        nodes = nodes + 1
        if t[1] then
            stack[top + 1], stack[top + 2] = t[1], t[2]
            top = top + 2
        end
    end
    return nodes
end

local function short_lived()
    local long_lived = bottom_up(14)
    local depth = 4
    while depth <= 12 do
        local trees, nodes = 2 ^ (14 - depth), 0
        local left = trees
        while left > 0 do
            nodes = nodes + count(bottom_up(depth))
            left = left - 1
        end
        print(string.format("%d trees of depth %d: %d nodes", trees, depth, nodes))
        depth = depth + 4
    end
    print("long-lived " .. count(long_lived))
end

numbers()
word_counts()
short_lived()
