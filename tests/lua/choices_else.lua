-- Tests with 'else', 'elseif', 'and', 'or' over arms that only compute numbers: each way of each must come out right.
local function sequence(seed)
    return function()
        seed = seed * 16807 % 2147483647
        return seed
    end
end

local random = sequence(4711)
local STEP, HALF = 3, 0.5

-- Both arms write one register, or each its own; either goes first, by the loop's start.
local function arms(first, n)
    local even, odd, both, f, g = 0, 0, 0, 0.0, 1.0
    for i = first, first + n do
        if i & 1 == 0 then even = even + i else odd = odd - 1 end
        if i % 3 == 0 then both = both + 2 else both = both - 1 end
        if i % 5 > 2 then f = f + HALF else f = f - i end
        if i % 7 ~= 0 then g = g * 1.0625 else even = even ~ 21 end
        if not (i % 4 == 0) then odd = odd + STEP else both, odd = odd, both end
        if g > 1000 then g = g / 1024 else g = g + 1 end
    end
    return even, odd, both, f, g
end
print(arms(0, 900))
print(arms(1, 900))

-- A local of one arm or the other, one that has no number yet, and arms that use what the test compares or what they write.
local function locals(n)
    local a, b, sum = 1, 2, 0
    for i = 1, n do
        local chosen, other
        if a < b then chosen = a else chosen = b end
        if a < b then a, b = b + 1, a - 2 else a, b = b - i, a + i end
        if chosen > 50 then
            local twice = chosen * 2
            other = twice + a
        else
            local less = chosen - 7
            other = less * less
        end
        if i % 2 == 0 then other = other + chosen else chosen = other - chosen end
        sum = sum + chosen % 1000 + other % 1000
    end
    return a, b, sum
end
print(locals(1000))

-- Chains, and tests within arms, which end where the outer one ends, or before.
local function chains(n)
    local count, low, middle, high, x = 0, 0, 0, 0.5, 0
    for i = 1, n do
        local r = random() % 100
        if r < 20 then low = low + 1 elseif r < 70 then middle = middle + r else high = high + 0.25 end
        if r < 10 then x = 1 elseif r < 30 then x = 2 elseif r < 60 then x = 3 end
        if r > 50 then
            if i % 2 == 0 then count = count + x end
        else
            count = count - 1
        end
        if r > 30 then
            if r < 40 then x = x + 5 else x = x - 5 end
            count = count + x
        end
        if r % 2 == 0 then
            if r > 90 then low = low * 3 elseif r > 80 then low = low - 2 end
        else
            if r > 95 then high = -high else high = high + 1 end
        end
    end
    return count, low, middle, high, x
end
print(chains(2000))

-- Two tests for one arm, and values of conditions.
local function both(n)
    local all, any, mixed, sum, f = 0, 0, 0, 0, 0.0
    for i = 1, n do
        local x, y = random() % 50, random() % 50
        if x < 25 and y < 25 then all = all + 1 end
        if x < 10 or y < 10 then any = any + 1 else any = any - 2 end
        if x < 30 and (y < 5 or y > 40) then mixed = mixed + x else mixed = mixed ~ y end
        if not (x > 3 and y > 3) then sum = sum - 1 end
        local least = x < y and x or y
        local most = x > y and x or y
        local sign = x > 25 and 1 or x < 25 and -1 or 0
        local g = x == y and 0.5 or 1.5
        sum = sum + least * 3 - most + sign
        f = f + g
    end
    return all, any, mixed, sum, f
end
print(both(2000))

-- Operations of all kinds: some make a choice, those that take long do not.
local function operations(n)
    local a, f = 12345, 1.5
    for i = 1, n do
        if i % 3 == 0 then a = a & 0xffffff else a = a | i end
        if i % 5 == 0 then a = a ~ i else a = a << 1 end
        if i % 2 == 0 then a = a >> 3 else a = ~a end
        if i % 7 < 3 then a = a // 3 else a = a % 1000003 end
        if i % 4 < 2 then a = a // -7 else a = a % -17 end
        if i % 9 < 3 then a = a * 0x10001 + i else a = -a - 1 end
        if i % 6 == 0 then a = a << 63 else a = a >> 64 end
        if i % 11 == 0 then a = a // -1 else a = i & a end
        if i % 5 < 2 then f = f / 3 else f = f // 0.25 end
        if i % 3 < 2 then f = i / 7 + f else f = f * f - f // i end
        if f > 1e9 then f = f / 1e9 else f = f + a end
        a = a ~ i << 7
    end
    return a, f
end
print(operations(1000))

-- Divisions that fail, but only where the program comes to them.
local function divisions(n)
    local sum, zero, failed = 0, 0, 0
    for i = 1, n do
        local d = i % 4
        if d ~= 0 then sum = sum + 100 // d else sum = sum - 1 end
        if d ~= 0 then sum = sum + 100 % d else sum = sum - 2 end
        if d == 0 then sum = sum // 1 else sum = sum + (1 << d) end
        if i > n then sum = sum // zero else sum = sum + 1 end
        if i % 50 == 49 and not pcall(function() if d == 3 then return sum // zero else return sum end end) then
            failed = failed + 1
        end
    end
    return sum, failed
end
print(divisions(500))

-- Bits of floats are bits only if they are integers.
local function bits(n)
    local whole, sum = 3.0, 0
    for i = 1, n do
        if i % 2 == 0 then sum = sum + (whole | 1) else sum = sum + 1 end
        whole = whole + 1
        if i == 300 then whole = whole + 0.5 end
    end
    return sum
end
print(pcall(bits, 200))
print((pcall(bits, 400)))

-- Types that change on one way: an arm's result, what it reads, what it does not write, an upvalue.
local function types(n, at)
    local x, y, z, text = 0, 0, 1, ""
    for i = 1, n do
        if i % 3 == 0 then x = x + 1 else x = x + 0.5 end
        if i % 2 == 0 then y = y + 1 else y = y - 2 end
        if i == at then y = 0.5 end
        if i % 5 < 3 then z = z + 1 else z = z * 2 % 100 end
        if i == at + 40 then z = z / 4 end
        if i == at + 80 then y = "12" end
        if i % 7 == 0 then text = "seven" else text = 7 end
    end
    return x, y, z, text
end
print(types(50, 100))
print(types(400, 150))
print(types(400, 10))
local function upvalue_types(n)
    local up, down, sum = 1, 2, 0
    local function set(u, d) up, down = u, d end
    local function add(x)
        local y
        if x % 3 > 0 then y = up + x else y = down - x end
        return y
    end
    for i = 1, n do
        if i == 150 then set(2.5, 3) end
        if i == 200 then set(1, 0.5) end
        if i == 250 then set("4", 1) end
        if i == 300 then set(7, 8) end
        sum = sum + add(i)
    end
    return sum
end
print(upvalue_types(400))

-- Registers that closures hold, written by arms; the closures see each of the numbers.
local function captured(n)
    local a, b, seen = 0, 0.5, 0
    local function get() return a * 2 + b end
    local function more(d) a = a + d end
    for i = 1, n do
        local c = i
        local keep = i % 60 == 0 and function() c = c + 1 return c end
        if i % 2 == 0 then a = a + 1 else b = b + 1 end
        if i % 3 == 0 then c = c + a else c = c - 1 end
        seen = seen + get()
        more(i % 4)
        if keep then seen = seen + keep() + c end
    end
    return a, b, seen
end
print(captured(500))

-- Numbers that compare in no simple way, and signs of zeros.
local function corners()
    local list = { 0, -0.0, 0.0, 0 / 0, 1 / 0, -1 / 0, math.maxinteger, math.mininteger, 2 ^ 53, 2 ^ 63, -2 ^ 63, 1, -1, (1 << 53) + 1 }
    local out = {}
    for round = 1, 30 do
        for i = 1, #list do
            for j = 1, #list do
                local a, b, way, least, most, zero = list[i], list[j], 0, 0.5, 0.25, 0.0
                if a < b then way = way + 1 elseif a == b then way = way + 2 elseif a > b then way = way + 4 else way = way + 8 end
                if a <= b then way = way + 16 else way = way - 16 end
                if a >= b and a == a then way = way + 32 elseif b ~= b then way = way + 64 end
                if a < b then least = a else least = b end
                if not (a <= b) then most = a else most = b end
                if a > 0 then zero = -zero else zero = zero - 0.0 end
                if round == 30 then out[#out + 1] = table.concat({ way, least, most, 1 / zero }, ",") end
            end
        end
    end
    return table.concat(out, " ")
end
local text = corners():gsub("%-nan", "nan")
print(text)
local function floats(n)
    local least, most, nans, x = 1 / 0, -1 / 0, 0, -0.0
    for i = 1, n do
        local v = (i * 37 % 101 - 50) / (i % 10)
        if v < least then least = v elseif v > most then most = v end
        if v ~= v then nans = nans + 1 else x = x + 0.0 * v end
        if i > n then x = x + 1 else x = -x end
        least, most = least + 1, most - 1
    end
    return least, most, nans, x ~= x
end
print(floats(700))

-- Integers that wrap.
local function wraps(n)
    local x, y = math.maxinteger - 3, math.mininteger + 2
    for i = 1, n do
        if i % 2 == 0 then x = x + 1 else y = y - 1 end
        if x > 0 then x = x * 3 else x = x - y end
        if y < 0 then y = -y else y = y * 5 end
    end
    return x, y
end
print(wraps(300))

-- Jumps in arms: on with the loop, out of it, both ways to one place.
local function jumps(n)
    local a, b, c, d = 0, 0, 0, 0
    for i = 1, n do
        if i % 3 == 0 then goto continue end
        a = a + i
        if i % 5 == 0 then b = b + 1 goto continue else b = b - 1 end
        b = b * 2 % 1000
        ::continue::
    end
    while true do
        c = c + 1
        if c % 2 == 0 then d = d + 1 elseif c > n then break else d = d - 3 end
    end
    local k = 0
    while k < n do
        k = k + 1
        if k % 4 == 0 then d = d + k else d = d - 1 end
    end
    while k > 0 do
        k = k - 1
        if k % 4 == 0 then
            if k % 3 == 0 then a = a + 1 end
        elseif k % 5 == 0 then
            b = b + 1
        end
    end
    repeat
        k = k + 1
        if k % 2 == 0 then a = a + 2 else a = a - 1 end
        if k % 3 == 0 then b = b + a else c = c ~ a end
    until k >= n
    ::again::
    k = k - 1
    if k % 2 == 0 then d = d + k else d = d ~ k end
    if k > 0 then goto again end
    for i = 1.0, n do if i % 2 == 0 then c = c + 1 else c = c - 2 end end
    return a, b, c, d
end
print(jumps(400))
print(jumps(401))

-- The Collatz problem: how many steps a number takes.
local function collatz(limit)
    local longest, of = 0, 0
    for i = 1, limit do
        local n, steps = i, 0
        while n ~= 1 do
            if n % 2 == 0 then n = n // 2 else n = 3 * n + 1 end
            steps = steps + 1
        end
        if steps > longest then longest, of = steps, i end
    end
    return longest, of
end
print(collatz(300))

-- An arm within one that cannot be chosen, at its end, where jumps are shortened.
local function within(n)
    local t, x, y = {}, 0, 0
    for i = 1, n do
        if i % 2 == 0 then
            t[i % 10] = i
            if i % 3 == 0 then x = x + i else x = x - 1 end
        elseif i % 5 == 0 then
            t[i % 7] = x
            if x > y then y = y + 10 end
        else
            y = y - 1
        end
    end
    return x, y, #t, t[4]
end
print(within(500))

-- Arms that are too long, or too many.
local function long(n)
    local a, b, c, d = 1, 2, 3, 4
    for i = 1, n do
        if i % 2 == 0 then
            a = a + b * c - d
            b = b + c * d - a
            c = c + d * a - b
            d = d + a * b - c
            a = a ~ b ~ c ~ d
            b = b & 0xfffff
        else
            a, b, c, d = b, c, d, a + i
        end
        if i % 13 < 1 then a = a + 1 elseif i % 13 < 2 then a = a + 2 elseif i % 13 < 3 then b = b + 3 elseif i % 13 < 4 then a = a - 4
        elseif i % 13 < 5 then c = c + 5 elseif i % 13 < 6 then d = d + 6 else a = -a end
    end
    return a, b, c, d
end
print(long(400))

-- Objects, strings and truth values are no numbers.
local Meta = setmetatable({}, {
    __add = function(a, b) return type(a) == "number" and a + 1 or type(b) == "number" and b + 2 or 0 end,
    __lt = function(_, b) return b ~= 5 end,
    __eq = function() return true end,
})
local Other = setmetatable({}, getmetatable(Meta))
local function others(n)
    local s, m, e, flag, name = 0, 0, 0, false, "?"
    for i = 1, n do
        local x = i % 10 == 3 and "7" or i
        if i % 2 == 0 then s = s + x else s = s - 1 end
        if Meta < i % 6 then m = m + 1 else m = m - 1 end
        local y = i % 9 == 0 and Meta or i
        if i % 3 == 0 then m = m + y else m = m + 1 end
        if (i % 4 == 0 and Meta or i) == Other then e = e + 1 else e = e - 1 end
        if i % 5 == 0 then flag = i % 2 == 0 else flag = not flag end
        if i % 7 < 3 then name = "low" elseif i % 7 == 6 then name = nil else name = i end
        if name == "low" then e = e + 2 elseif name == nil then e = e - 2 elseif flag then e = e * 2 % 1001 end
    end
    return s, m, e, flag, name
end
print(others(400))

-- A debugger sees the locals of the frame as they are, between tests; a hook the lines.
local seen = 0
local function look()
    for n = 2, 4 do
        local _, value = debug.getlocal(2, n)
        seen = seen * 3 + value & 0xffffff
    end
end
local function looked_at(n)
    local x, y = 1, 1
    for i = 1, n do
        if i % 3 == 0 then x = x + 1 else y = y + x end
        if i % 50 == 0 then look() end
        if i % 2 == 0 then local z = x * 2 y = y - z else local w = y x = x + w % 3 end
    end
    return x, y
end
print(looked_at(400), seen)
local lines = 0
local function traced(n)
    local x, y = 0, 0
    for i = 1, n do
        if i == 200 then debug.sethook(function() lines = lines + 1 end, "l") end
        if i == 210 then debug.sethook() end
        if i % 3 == 0 then
            x = x + 1
        else
            y = y + x
        end
    end
    return x, y
end
print(traced(400), lines)
