-- Integers that wrap: sums, products, hashes, shifts, random numbers, division of the smallest one, parsing and printing.
local h = 0xcbf29ce484222325
for i = 1, 200 do h = (h ~ (i & 255)) * 0x100000001b3 end
print(h, ("%x"):format(h))
local x, sum = 0x2545F4914F6CDD1D, 0
for i = 1, 200 do
  x = x ~ (x << 13); x = x ~ (x >> 7); x = x ~ (x << 17)
  sum = sum + (x % 1000) + (x // 1000003)
end
print(x, sum)
local f = 1
for i = 1, 70 do f = f * i end
print(f)
local fac = {}
f = 1
for i = 1, 25 do f = f * i; fac[i] = f end
print(fac[20], fac[21], fac[25])
local min, max, n = math.mininteger, math.maxinteger, 0
for i = 1, 80 do
  local d = i % 4 == 0 and -1 or i % 4
  n = n + min // d + min % d + (max + i) // d - (min - i) % d
  n = n ~ (-min) ~ (min * -1) ~ (min // -1) ~ (max * 2)
end
print(n)
local s = 0
for i = -70, 70 do s = s + (1 << i) + (-1 >> i) + (max << i) + (min >> i) end
print(s)
local lcg, digest = 12345, 0
for i = 1, 150 do
  lcg = (lcg * 6364136223846793005 + 1442695040888963407)
  digest = digest ~ (lcg >> 33)
  if lcg < 0 then digest = digest + 1 end
end
print(lcg, digest)
local c = 0
for i = max - 60, max - 1 do
  if i + 1 > i then c = c + 1 end
  if i + 100 < i then c = c + 1000 end
  if i - min == -1 - (max - i) then c = c + 1000000 end
end
print(c)
local crc = {}
for i = 0, 255 do
  local r = i
  for _ = 1, 8 do if r & 1 == 1 then r = (r >> 1) ~ 0xEDB88320 else r = r >> 1 end end
  crc[i] = r
end
local r = 0xFFFFFFFF
for _, b in ipairs { ("123456789"):byte(1, -1) } do r = crc[(r ~ b) & 255] ~ (r >> 8) end
print(("%08x"):format(r ~ 0xFFFFFFFF))
local digits, v = "", max
for i = 1, 60 do digits = v % 10 .. digits; v = v // 10; if v == 0 then break end end
print(digits)
local parse = 0
for ch in ("9223372036854775808"):gmatch(".") do parse = parse * 10 + (ch:byte() - 48) end
print(parse, parse == min, math.abs(min), -min == min)
local pop = 0
for i = 1, 100 do local b = i * 0x9E3779B97F4A7C15; while b ~= 0 do b = b & (b - 1); pop = pop + 1 end end
print(pop)
print(pcall(function() local q = 0 for i = 60, -1, -1 do q = q + 100 // i end end))
print(pcall(function() local q = 0 for i = 60, -1, -1 do q = q + 100 % i end end))
local fl = 0
for i = 60, -5, -1 do fl = 100.0 // i; if fl ~= fl or fl == math.huge then break end end
print(fl)
