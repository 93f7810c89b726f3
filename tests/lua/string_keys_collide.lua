-- New names in tables whose nodes are taken: many small tables, filled in all orders, emptied and filled anew,
-- with other kinds of keys among them. What each holds is counted twice.
local names = {}
for i = 1, 64 do
    names[i] = "k" .. i * 37
end

local state = 1
local function random(n)
    state = (state * 16807) % 2147483647
    return state % n + 1
end

local function check(t, expected)
    local count = 0
    for k, v in pairs(t) do
        assert(expected[k] == v, k)
        count = count + 1
    end
    for k, v in pairs(expected) do
        assert(t[k] == v, k)
        count = count - 1
    end
    assert(count == 0)
end

local function set(t, list, k, v)
    t[k] = v
    list[#list + 1] = k
    list[#list + 1] = v or false
end

local function expected_of(list)
    local seen, result = {}, {}
    for i = #list - 1, 1, -2 do
        local k = list[i]
        if not seen[k] then
            seen[k] = true
            result[k] = list[i + 1] or nil
        end
    end
    return result
end

local total = 0
for round = 1, 400 do
    local t, list = {}, {}
    for step = 1, round % 40 + 2 do
        local kind, name = random(12), names[random(64)]
        if kind == 1 then
            set(t, list, random(9) * 1000, step)
        elseif kind == 2 then
            set(t, list, name, nil)
        elseif kind == 3 then
            set(t, list, step % 2 == 0, step)
        else
            set(t, list, name, step)
        end
    end
    local expected = expected_of(list)
    check(t, expected)
    for _, v in pairs(expected) do
        total = total + v
    end
end
print(total)

-- Objects with the same fields, given in turn.
local sum = 0
for i = 1, 300 do
    local o = {}
    o.x = i
    o.y = i + 1
    o.left = i % 3 == 0 and i or nil
    o.right = i % 5
    o.name = "n"
    o.parent = o
    o.x = nil
    o.width = 3
    o.height = 4
    sum = sum + o.y + o.right + o.width * o.height + (o.left or 0) + (o.x or 1) + #o.name
    assert(o.parent == o)
end
print(sum)
