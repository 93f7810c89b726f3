-- Permutations in four ways, each feeding a visitor that does something with them.

-- Swapping and recursion, with a callback.
local function permute(a, n, visit)
    if n <= 1 then
        visit(a)
    else
        for i = 1, n do
            a[n], a[i] = a[i], a[n]
            permute(a, n - 1, visit)
            a[n], a[i] = a[i], a[n]
        end
    end
end

-- Heap's algorithm without recursion.
local function heaps(a, visit)
    local n = #a
    local c = {}
    for i = 1, n do c[i] = 1 end
    visit(a)
    local i = 1
    while i <= n do
        if c[i] < i then
            if i % 2 == 1 then
                a[1], a[i] = a[i], a[1]
            else
                a[c[i]], a[i] = a[i], a[c[i]]
            end
            visit(a)
            c[i] = c[i] + 1
            i = 1
        else
            c[i] = 1
            i = i + 1
        end
    end
end

-- As an iterator: a coroutine that yields each permutation.
local function permutations(a)
    return coroutine.wrap(function()
        permute(a, #a, coroutine.yield)
    end)
end

-- In dictionary order; false after the last one.
local function next_permutation(a)
    local i = #a - 1
    while i > 0 and a[i] >= a[i + 1] do i = i - 1 end
    if i == 0 then return false end
    local j = #a
    while a[j] <= a[i] do j = j - 1 end
    a[i], a[j] = a[j], a[i]
    local low, high = i + 1, #a
    while low < high do
        a[low], a[high] = a[high], a[low]
        low, high = low + 1, high - 1
    end
    return true
end

local function range(n)
    local a = {}
    for i = 1, n do a[i] = i end
    return a
end

-- How many permutations leave k elements in place?
local function fixed_points(n)
    local histogram = {}
    for k = 0, n do histogram[k] = 0 end
    permute(range(n), n, function(p)
        local k = 0
        for i = 1, n do
            if p[i] == i then k = k + 1 end
        end
        histogram[k] = histogram[k] + 1
    end)
    return table.concat(histogram, " ", 0, n)
end

-- Cycles and sign.
local function cycles(p, seen)
    local count = 0
    for i = 1, #p do seen[i] = false end
    for i = 1, #p do
        if not seen[i] then
            count = count + 1
            local j = i
            while not seen[j] do
                seen[j] = true
                j = p[j]
            end
        end
    end
    return count
end

local function cycle_counts(n)
    local counts, seen, signs = {}, {}, 0
    for i = 1, n do counts[i] = 0 end
    heaps(range(n), function(p)
        local c = cycles(p, seen)
        counts[c] = counts[c] + 1
        signs = signs + ((n - c) % 2 == 0 and 1 or -1)
    end)
    return table.concat(counts, " ") .. ", signs " .. signs
end

-- A round trip through towns, by looking at all of them.
local function shortest_tour(towns)
    local n = #towns
    local d = {}
    for i = 1, n do
        d[i] = {}
        for j = 1, n do
            local dx, dy = towns[i].x - towns[j].x, towns[i].y - towns[j].y
            d[i][j] = math.sqrt(dx * dx + dy * dy)
        end
    end
    local best, tour, tried = math.huge, nil, 0
    local order = range(n - 1)
    repeat
        local length, at = 0, n
        for i = 1, n - 1 do
            length = length + d[at][order[i]]
            at = order[i]
            if length >= best then break end
        end
        length = length + d[at][n]
        tried = tried + 1
        if length < best then
            best, tour = length, table.concat(order, "-")
        end
    until not next_permutation(order)
    return best, tour, tried
end

-- Letters for digits: TWO + TWO = FOUR, the first letters not zero.
local function puzzle(first, second, sum)
    local letters, index = {}, {}
    for letter in (first .. second .. sum):gmatch(".") do
        if not index[letter] then
            letters[#letters + 1] = letter
            index[letter] = #letters
        end
    end
    local function number(word, digits)
        local n = 0
        for i = 1, #word do
            n = n * 10 + digits[index[word:sub(i, i)]]
        end
        return n
    end
    return function(digits)
        if digits[index[first:sub(1, 1)]] == 0 or digits[index[second:sub(1, 1)]] == 0 then return end
        local a, b, c = number(first, digits), number(second, digits), number(sum, digits)
        if a + b == c then return a .. " + " .. b .. " = " .. c end
    end
end

print("fixed points: " .. fixed_points(9))
print("cycles: " .. cycle_counts(9))

local inversions, first, last = 0, nil, nil
for p in permutations(range(8)) do
    for i = 1, #p do
        for j = i + 1, #p do
            if p[i] > p[j] then inversions = inversions + 1 end
        end
    end
    first = first or table.concat(p)
    last = table.concat(p)
end
print(string.format("inversions %d, from %s to %s", inversions, first, last))

local seed = 99
local towns = {}
for i = 1, 9 do
    seed = (seed * 16807) % 2147483647
    local x = seed % 1000
    seed = (seed * 16807) % 2147483647
    towns[i] = { x = x, y = seed % 1000 }
end
local best, tour, tried = shortest_tour(towns)
print(string.format("tour %.6f: %s of %d", best, tour, tried))

local check = puzzle("TWO", "TWO", "FOUR")
local found = {}
local digits = { 0, 1, 2, 3, 4, 5, 6, 7, 8 }
repeat
    local answer = check(digits)
    if answer and found[#found] ~= answer then found[#found + 1] = answer end
until not next_permutation(digits)
print(#found .. " answers, last " .. (found[#found] or "none"))
