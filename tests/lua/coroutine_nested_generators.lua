-- Generators that resume generators: trees, errors and ends at every depth, more variables than values, and
-- resumes as deep as C calls may be.
local function walk(t)
    return coroutine.wrap(function()
        if not t then return end
        for v, depth in walk(t.left) do coroutine.yield(v, depth + 1) end
        if t.fails then error("node " .. t.v, 0) end
        coroutine.yield(t.v, 0)
        for v, depth in walk(t.right) do coroutine.yield(v, depth + 1) end
    end)
end

local function build(lo, hi)
    if lo > hi then return nil end
    local m = (lo + hi) // 2
    return { v = m, left = build(lo, m - 1), right = build(m + 1, hi) }
end

local tree = build(1, 127)
for round = 1, 3 do
    local sum, depths = 0, 0
    for v, depth in walk(tree) do sum, depths = sum + v * round, depths + depth end
    print(sum, depths)
end

-- An error goes through all generators around it, and each of them is dead then.
tree.right.left.fails = true
print(pcall(function()
    local sum = 0
    for v in walk(tree) do sum = sum + v end
    return sum
end))
local generator = walk(tree)
local seen = 0
while pcall(generator) do seen = seen + 1 end
print(seen, pcall(generator))

-- Four variables, of which the generator gives three, two or one.
for round = 1, 20 do
    local text = {}
    for x, y, z, none in coroutine.wrap(function()
        for i = 1, round do
            if i % 3 == 0 then coroutine.yield(i) elseif i % 3 == 1 then coroutine.yield(i, -i) end
            coroutine.yield(i, "y", i * 0.5)
        end
    end) do
        text[#text + 1] = x .. tostring(y) .. tostring(z) .. tostring(none)
    end
    if round % 10 == 0 then print(table.concat(text, " ")) end
end

-- Iterators of C with upvalues, for one to four variables.
local words, pairs_found = 0, {}
for round = 1, 60 do
    for word in ("one two three"):gmatch("%a+") do words = words + #word end
    for k, v, last, none in ("a=1;b=2;"):gmatch("(%a)=(%d)(;)") do
        pairs_found[#pairs_found + 1] = k .. v .. last .. tostring(none)
    end
end
print(words, #pairs_found, pairs_found[120])

-- Resumes within resumes, up to the limit of C calls; the message is the same each time.
local function deeper(n)
    for v in coroutine.wrap(function() coroutine.yield(deeper(n + 1)) end) do return v end
end
for round = 1, 3 do
    local ok, message = pcall(deeper, 1)
    print(ok, (tostring(message):gsub("^.-(C stack overflow).*$", "%1")))
end

-- A generator that is resumed by itself, and one that is dead.
local self
self = coroutine.wrap(function() for v in self do print(v) end end)
print(pcall(self))
local once = coroutine.wrap(function() return 7 end)
print(once(), pcall(once))
