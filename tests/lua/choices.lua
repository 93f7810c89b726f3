-- Tests that only choose a number: both ways are one trace, and each corner of them must come out right.
local function sequence(seed)
    return function()
        seed = seed * 16807 % 2147483647
        return seed
    end
end

local MODULUS, LONG, HALF = 1000, 17, 0.5
local random = sequence(42)

-- One number, by a constant, an upvalue, another register; integers and floats; both senses of a test.
local function numbers(n)
    local a, b, c, f, i, least, most = 0, 0, 0, 0.0, 3, math.huge, -math.huge
    for k = 1, n do
        local x = random() % 2001 - 1000
        if x < 0 then x = x + MODULUS end
        if x > 500 then a = a + 1 end
        if not (x > 500) then b = b - x end
        if x % 3 == 0 then c = x end
        if x ~= 7 then f = f + HALF end
        i = i - 1
        if i == 0 then i = LONG end
        if x / 3 < least then least = x / 3 end
        if most < x / 7 then most = x / 7 end
        if x < 0 then x = -x end
        a = a + x % 5
    end
    return a, b, c, f, i, least, most
end
print(numbers(3000))

-- Several numbers of one test, which use one another; the test's own operands are among them.
local function several(n)
    local low, high, swaps = 5, 3, 0
    for _ = 1, n do
        local x, y = random() % 100, random() % 100
        if x < y then x, y = y, x end
        if x - y > 50 then swaps = swaps + x * 2 end
        if low > high then
            low = low - high
            high = low * 3
        end
        low, high = low + x % 7, high + y % 5
        if low > 1000 then low = -low end
    end
    return low, high, swaps
end
print(several(2000))

-- A number that would change its type, now, later, or only if the other way is gone.
local function types(n, at)
    local x, y, text = 0, 0, ""
    for k = 1, n do
        if k % 7 < 3 then x = x + 0.5 end
        if k == at then y = 0.25 end
        if k % 5 == 1 then y = y + 1 end
        if k == at + 20 then x = 3 end
        if k == at + 50 then text = "text" end
        if k == at + 60 then y = "10" end
        if k % 11 == 4 then y = y + 1 end
    end
    return x, y, text
end
print(types(100, 30))
print(types(400, 200))
print(types(400, 500))

-- Upvalues whose types change while the loop runs, and one that is a register of the loop's frame.
local function upvalues(n)
    local step, sum = 1, 0
    local function set(value) step = value end
    local function add(x)
        local y = x
        if x % 3 > 0 then y = step end
        return y
    end
    for k = 1, n do
        if k == 150 then set(2.5) end
        if k == 250 then set("8") end
        if k == 270 then set(4) end
        sum = sum + add(k)
        if k % 4 < 2 then sum = sum + LONG end
    end
    return sum
end
print(upvalues(400))

-- Numbers that compare in no simple way.
local function corners()
    local list = { 0, -0.0, 0.0, 0 / 0, 1 / 0, -1 / 0, math.maxinteger, math.mininteger, 2 ^ 53, 2 ^ 63, -2 ^ 63, 1, -1 }
    local out = {}
    for round = 1, 40 do
        for i = 1, #list do
            for j = 1, #list do
                local a, b, way, other = list[i], list[j], 0, 0
                if a < b then way = way + 1 end
                if a <= b then way = way + 2 end
                if a == b then way = way + 4 end
                if not (a < b) then other = other - 1 end
                if a ~= b then other = -other end
                local product = a
                if a >= b then product = product * 2 end
                if round == 40 then out[#out + 1] = way .. "," .. other .. "," .. tostring(product) end
            end
        end
    end
    return table.concat(out, " ")
end
local text = corners():gsub("%-nan", "nan")
print(text)

-- Integers that wrap, and a float that a choice keeps as it is, with its sign.
local function wraps(n)
    local x, z = math.maxinteger - 3, -0.0
    for k = 1, n do
        if k % 2 == 0 then x = x + 1 end
        if k % 3 == 0 then x = x * 3 end
        if k > n then z = z + 1.0 end
    end
    return x, 1 / z
end
print(wraps(300))

-- Strings that are numbers, and objects with metamethods, are no business of it.
local Meta = setmetatable({}, { __add = function(_, b) return b end, __lt = function(_, b) return b ~= 5 end })
local function others(n)
    local s, m, count = 0, 0, 0
    for k = 1, n do
        local x = k % 10 == 3 and "7" or k
        if k % 10 == 3 then s = s + x end
        if Meta < k % 6 then m = m + 1 end
        local y = k % 9 == 0 and Meta or k
        if k % 3 == 0 then count = y + count end
    end
    return s, m, count
end
print(others(300))

-- At the end of loops of all kinds, and in functions that a loop calls; a local of the arm is gone behind it.
local function clamp(x, low, high)
    if x < low then x = low end
    if x > high then x = high end
    return x
end
local sum, k, count = 0, 0, 0
while k < 600 do
    k = k + 1
    sum = sum + clamp(random() % 50, 10, 40)
    if k % 2 == 0 then
        local twice = k * 2
        sum = sum - twice
    end
end
repeat
    k = k - 1
    if k % 4 == 1 then count = count + 1 end
until k == 0
for i = 1, 300 do if i & 1 == 0 then count = count - i end end
for i = 1.0, 300.0 do if i % 2 == 0 then sum = sum + i end end
print(sum, count, k)

-- A debugger sees the locals of the frame as they are, between the two.
local seen = 0
local function look()
    local _, value = debug.getlocal(2, 3)
    seen = seen + value
end
local function looked_at(n)
    local _, x = 0, 1
    for i = 1, n do
        if i % 3 == 0 then x = x + 1 end
        if i % 50 == 0 then look() end
    end
    return x
end
print(looked_at(400), seen)
