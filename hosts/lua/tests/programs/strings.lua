-- Strings: building, patterns, callbacks from C, comparison, conversion, packing.
local parts = {}
for i = 1, 50 do
  local piece = i .. ":" .. (i * 1.5) .. ";" .. tostring(i % 2 == 0)
  parts[#parts + 1] = piece
end
local text = table.concat(parts, "|")
print(#text, text:sub(1, 40))
local counts = {}
for word, rest in text:gmatch("(%d+):([^|]*)") do counts[#counts + 1] = #word + #rest end
print(table.concat(counts, ","))
print((text:gsub("%d", function(d) return d == "1" and "one" or nil end):sub(1, 60)))
print(("hello world"):gsub("o", { o = "0" }), ("abc"):rep(3, "-"), ("x"):byte(), ("%5.2f|%-5d|%q"):format(3.14159, 42, "a\nb"))
local order = {}
for i = 1, 30 do order[i] = string.char(97 + (i * 7) % 26) .. i end
table.sort(order)
print(table.concat(order, " "))
table.sort(order, function(a, b) return a > b end)
print(table.concat(order, " "))
local compared = 0
for i = 1, #order - 1 do
  if order[i] > order[i + 1] then compared = compared + 1 end
  if order[i] >= order[i + 1] then compared = compared + 1 end
  if order[i] == order[i] then compared = compared + 1 end
end
print(compared)
local hash = 5381
for i = 1, #text do hash = (hash * 33 ~ text:byte(i)) & 0xFFFFFFFF end
print(hash, ("%x"):format(hash), tonumber("ff", 16), tonumber("1e3"), tonumber("nope"), math.tointeger("8"))
local packed = ""
for i = 1, 20 do packed = packed .. string.pack("<i4", i * i) end
local unpacked, position = 0, 1
while position <= #packed do
  local value
  value, position = string.unpack("<i4", packed, position)
  unpacked = unpacked + value
end
print(#packed, unpacked, utf8.char(228, 8364, 128512), utf8.len("äöü"))
for p, c in utf8.codes("aäb") do io.write(p, "=", c, " ") end
print()
local long = ""
for i = 1, 100 do long = long .. "x" .. i; if #long > 120 then long = long:sub(-60) end end
print(long)
