-- Tables that grow key by key, with integers near and far apart, strings, tables and booleans as keys, and
-- values that are removed between: the order of 'next' and the borders are those of Lua. Hashes of strings
-- differ from run to run, and so does the order where there are some: it is sorted before it is shown.
local seed = 17
local function random(n)
    seed = seed * 16807 % 2147483647
    return seed % n + 1
end

local function show(t, is_sorted)
    local out = {}
    for k, v in pairs(t) do out[#out + 1] = tostring(k) .. "=" .. tostring(v) end
    if is_sorted then table.sort(out) end
    return table.concat(out, " ")
end

-- Integers in ranges of all sizes, and of both signs; each table is shown whole once in a while.
local sum = 0
for round = 1, 400 do
    local t, range, offset = {}, random(300), random(3) == 1 and -random(100) or random(2) == 1 and 0 or random(1 << 40)
    for i = 1, random(24) do
        t[offset + random(range)] = i
        if random(9) == 1 then t[offset + random(range)] = nil end
    end
    sum = sum + #t
    if round % 25 == 0 then print(round, #t, show(t)) end
end
print(sum)

-- Integers and strings, in turn and mixed; floats and long strings leave the growing to Lua.
local long = ("x"):rep(50)
for round = 1, 120 do
    local t = {}
    for i = 1, 6 + round % 30 do
        local kind = random(12)
        if kind <= 5 then t[random(round)] = i
        elseif kind <= 8 then t["k" .. random(20)] = i
        elseif kind == 9 then t[random(20) + 0.5] = i
        elseif kind == 10 then t[long .. random(3)] = i
        elseif kind == 11 then t[random(2) == 1] = i
        else t["k" .. random(20)] = nil end
    end
    if round % 10 == 0 then print(round, #t, show(t, true)) end
end

-- Tables as keys: their order is that of addresses, so it is the sums that are shown.
local keys = {}
for i = 1, 200 do keys[i] = { i } end
for round = 1, 60 do
    local t, n, total = {}, 0, 0
    for i = 1, round * 3 do t[keys[random(200)]] = i end
    for k, v in pairs(t) do n, total = n + k[1], total + v end
    local missing = 0
    for i = 1, 200 do if t[keys[i]] == nil then missing = missing + 1 end end
    if round % 10 == 0 then print(n, total, missing) end
end

-- More than 128 integers far apart, then near to one another.
local t = {}
for i = 1, 300 do t[i * 7] = i end
for i = 1, 300 do t[i] = i end
print(#t, t[301] == nil, t[2100], select("#", show(t)))
local first = {}
for k in pairs(t) do first[#first + 1] = k end
print(#first, table.concat(first, " ", 1, 20), table.concat(first, " ", 281, 320))
