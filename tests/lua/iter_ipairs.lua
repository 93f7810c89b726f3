-- Generic loops with ipairs as the recorded loop: arrays, hash parts, mixed types, ends and breaks, tables that change.
local function fill(n, f) local t = {} for i = 1, n do t[i] = f(i) end return t end
local ints = fill(100, function(i) return i * 3 end)
local floats = fill(70, function(i) return i / 4 end)
local words = fill(60, function(i) return "w" .. i end)
local mixed = fill(90, function(i) return i % 3 == 0 and i or i % 3 == 1 and i + 0.5 or "7" end)
local s = 0
for i, v in ipairs(ints) do s = s + i * v end
print(s)
for i in ipairs(ints) do s = s + i end
print(s)
for i, v in ipairs(floats) do s = s + v end
print(s)
local length = 0
for i, v in ipairs(words) do length = length + #v end
print(length)
for i, v in ipairs(mixed) do s = s + v end
print(s)
-- extra variables are nil
local nils = 0
for i, v, more, most in ipairs(ints) do if more == nil and most == nil then nils = nils + 1 end end
print(nils)
-- a hash part: filled from behind
local back = {}
for i = 90, 1, -1 do back[i] = i end
s = 0
for i, v in ipairs(back) do s = s + v end
print(s)
-- a hole ends the loop, and so does false not
local holed = fill(80, function(i) return i end)
holed[61] = nil
s = 0
for i, v in ipairs(holed) do s = s + i end
print(s)
local booleans = fill(50, function(i) return i % 2 == 0 end)
local yes = 0
for i, v in ipairs(booleans) do if v then yes = yes + 1 end end
print(yes)
-- break, goto, and the loop's table changed by its body
for i, v in ipairs(ints) do if v > 200 then s = i break end end
print(s)
local grows = { 1, 2, 3 }
for i, v in ipairs(grows) do if i < 120 then grows[#grows + 1] = v + 1 end end
print(#grows, grows[#grows])
local shrinks = fill(100, function(i) return i end)
local seen = 0
for i, v in ipairs(shrinks) do seen = seen + 1 shrinks[#shrinks] = nil end
print(seen, #shrinks)
-- __index is asked
local proxy = setmetatable({}, { __index = function(_, i) if i <= 75 then return i * 2 end end })
s = 0
for i, v in ipairs(proxy) do s = s + v end
print(s)
local inherits = setmetatable({}, { __index = ints })
s = 0
for i, v in ipairs(inherits) do s = s + v end
print(s)
local late = setmetatable(fill(40, function(i) return i end), { __index = fill(80, function(i) return -i end) })
s = 0
for i, v in ipairs(late) do s = s + v end
print(s)
-- a short loop that is entered many times, and one inside it
local rows = fill(40, function(i) return fill(i % 5, function(k) return k * i end) end)
s = 0
for _, row in ipairs(rows) do for k, v in ipairs(row) do s = s + k * v end end
print(s)
for n = 1, 60 do for k, v in ipairs(rows[n % 40 + 1]) do s = s + v end end
print(s)
-- the iterator changes its mind
local step, state, first = ipairs(ints)
local count = 0
for i, v in step, state, 90 do count = count + 1 end
for i, v in step, { [math.mininteger] = 1, [math.mininteger + 1] = 2 }, math.maxinteger do count = count + v end
print(count)
print(pcall(function() for i, v in ipairs() do end end))
print(pcall(function() for i, v in step, 5, 0 do end end))
print(pcall(function() local n = 0 for i, v in step, ints, 1 do n = n + 1 if n == 40 then error("stop") end end end))
print(select(2, xpcall(function() for i, v in ipairs(mixed) do s = s + v if i == 80 then s = s + nil end end end, debug.traceback)))
