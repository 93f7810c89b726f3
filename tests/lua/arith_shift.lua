-- Shifts by every kind of count: negative, zero, up to 63, 64 and beyond, the extremes, and floats.
local counts = { 0, 1, 5, 31, 32, 63, 64, 65, 1000, -1, -5, -63, -64, -65, math.maxinteger, math.mininteger }
local n = #counts
local function row(x)
  local l, r = 0, 0
  for j = 1, n do
    local c = counts[j]
    l = l * 7 + (x << c)
    r = r * 7 + (x >> c)
  end
  print(x, l, r)
end
row(1) row(-1) row(0x123456789abcdef) row(math.mininteger) row(math.maxinteger) row(0)
local a, b, c, d = 0, 0, 0, 0
for i = -40, 70 do
  a = a ~ (i << 3)
  b = b ~ (i >> 3)
  c = c ~ (1 << i)
  d = d + (-1 >> i)
end
print(a, b, c, d)
for _, count in ipairs(counts) do
  local x = 0
  for i = 1, 12 do x = x * 3 + (i << count) + (i >> count) end
  io.write(x, " ")
end
print()
local f = 0
for i = 1.0, 20.0 do f = f ~ (i << 2.0) end
print(f)
print(pcall(function() for i = 1.0, 3.0, 0.5 do f = f << i end end))
