-- Concatenation: numbers of all kinds, short and long results, many operands, strings that are kept.
local parts = {}
for i = 1, 300 do parts[i] = "n" .. i end
print(parts[1], parts[300], #parts)
for i = 1, 300 do parts[i] = i .. "/" .. i / 2 .. "/" .. -i .. "/" .. (i % 7) * 1e15 end
print(parts[1], parts[7], parts[300])

-- From short to long results.
local s, lengths = "", {}
for i = 1, 200 do s = s .. i % 10; lengths[i] = #s end
print(#s, s:sub(1, 20), lengths[40], lengths[41])
local short, long = 0, 0
local pads = { "", "x", ("y"):rep(39), ("z"):rep(40), ("w"):rep(100) }
for i = 1, 300 do
  local t = pads[i % 5 + 1] .. "!"
  if #t <= 40 then short = short + 1 else long = long + 1 end
end
print(short, long)

-- Strings that are made are the same as strings that were there.
local known = { a1 = 1, a2 = 2, a3 = 3 }
local hits = 0
for i = 1, 300 do if known["a" .. i % 5] then hits = hits + 1 end end
print(hits)

-- Special floats, the ends of the integers.
local odd = { 0.0, -0.0, 1 / 0, -1 / 0, 0 / 0, 1e100, 2 ^ 53, math.maxinteger, math.mininteger }
local out = {}
for i = 1, 180 do
  local v = odd[i % 9 + 1]
  if v == v then out[i % 9 + 1] = "<" .. v .. ">" end
end
print(out[1], out[2], out[3], out[4], out[6], out[7], out[8], out[9])

-- Errors and metamethods.
print(pcall(function() local t = {} for i = 1, 200 do t[i] = "a" .. (i < 150 and i or {}) end end))
local mt = { __concat = function(a, b) return "meta" end }
local obj = setmetatable({}, mt)
local n = 0
for i = 1, 200 do
  local v = i < 150 and "s" or obj
  if v .. i == "meta" then n = n + 1 end
end
print(n)

-- A kept string, and the collector.
local last
for i = 1, 20000 do last = "key" .. i .. ":" .. i * i end
print(last)
