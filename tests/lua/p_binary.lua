-- Binary records: string.pack and unpack in loops, alignment, endianness, a small archive, varints, bit sets, Gray codes.
local records = {}
for i = 1, 80 do records[i] = string.pack("<I2 i4 d s1 B", i, -i * 1000, i / 8, ("r"):rep(i % 5), i % 256) end
local blob = table.concat(records)
local at, n, sum, text = 1, 0, 0, 0
while at <= #blob do
  local id, value, real, name, flag
  id, value, real, name, flag, at = string.unpack("<I2 i4 d s1 B", blob, at)
  n, sum, text = n + 1, sum + id + value + real + flag, text + #name
end
print(n, sum, text, #blob, string.packsize("<I2 i4 d B"), string.packsize("!8 b i8 b d"))
local swapped = 0
for i = 1, 100 do
  local v = i * 0x01010101 & 0xffffffff
  local big = string.pack(">I4", v)
  if string.unpack("<I4", big:reverse()) == v then swapped = swapped + 1 end
  if string.unpack(">i2", big, 3) == (v & 0xffff ~ 0x8000) - 0x8000 then swapped = swapped + 1000 end
end
print(swapped, (string.pack(">i3 z j", -2, "abc", 7):gsub(".", function(c) return ("%02x"):format(c:byte()) end)))
local function varint(v)
  local out = {}
  repeat
    local low = v & 127
    v = v >> 7
    out[#out + 1] = string.char(v ~= 0 and low | 128 or low)
  until v == 0
  return table.concat(out)
end
local function from_varint(s, i)
  local v, shift = 0, 0
  while true do
    local b = s:byte(i)
    v, shift, i = v | (b & 127) << shift, shift + 7, i + 1
    if b < 128 then return v, i end
  end
end
local stream = {}
for i = 0, 70 do stream[#stream + 1] = varint(1 << i % 64 | i) end
stream = table.concat(stream)
local i, x, count = 1, 0, 0
while i <= #stream do
  local v
  v, i = from_varint(stream, i)
  x, count = x ~ v, count + 1
end
print(#stream, x, count, from_varint(varint(-1), 1))
local Bits = {}
Bits.__index = Bits
local function bits(n) local w = {} for k = 1, (n + 63) // 64 do w[k] = 0 end return setmetatable({ w = w, n = n }, Bits) end
function Bits:set(k) local w = self.w w[(k >> 6) + 1] = w[(k >> 6) + 1] | 1 << (k & 63) end
function Bits:clear(k) local w = self.w w[(k >> 6) + 1] = w[(k >> 6) + 1] & ~(1 << (k & 63)) end
function Bits:has(k) return self.w[(k >> 6) + 1] >> (k & 63) & 1 == 1 end
function Bits:count()
  local c = 0
  for _, v in ipairs(self.w) do
    while v ~= 0 do v, c = v & v - 1, c + 1 end
  end
  return c
end
Bits.__band = function(a, b) local r = bits(a.n) for k = 1, #r.w do r.w[k] = a.w[k] & b.w[k] end return r end
Bits.__bor = function(a, b) local r = bits(a.n) for k = 1, #r.w do r.w[k] = a.w[k] | b.w[k] end return r end
Bits.__bxor = function(a, b) local r = bits(a.n) for k = 1, #r.w do r.w[k] = a.w[k] ~ b.w[k] end return r end
Bits.__bnot = function(a) local r = bits(a.n) for k = 1, #r.w do r.w[k] = ~a.w[k] end return r end
Bits.__shl = function(a, s) local r = bits(a.n) for k = 0, a.n - 1 - s do if a:has(k) then r:set(k + s) end end return r end
Bits.__shr = function(a, s) local r = bits(a.n) for k = s, a.n - 1 do if a:has(k) then r:set(k - s) end end return r end
local two, three = bits(256), bits(256)
for k = 0, 255, 2 do two:set(k) end
for k = 0, 255, 3 do three:set(k) end
for k = 250, 255 do two:clear(k) end
print(two:count(), three:count(), (two & three):count(), (two | three):count(), (two ~ three):count(), (~two):count(), (three << 5):count(), (two >> 200):count())
local gray, popcount, rotations = {}, 0, 0
for v = 0, 127 do
  gray[v] = v ~ v >> 1
  local b, g = 0, gray[v]
  while g ~= 0 do b, g = b ~ g, g >> 1 end
  if b ~= v then print("gray", v) end
  if v > 0 then
    local d = gray[v] ~ gray[v - 1]
    if d & d - 1 ~= 0 then print("not one bit", v) end
  end
  local c = v * 0x0101010101010101
  c = c - (c >> 1 & 0x5555555555555555)
  c = (c & 0x3333333333333333) + (c >> 2 & 0x3333333333333333)
  c = (c + (c >> 4) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56
  popcount = popcount + c
  rotations = rotations ~ (v << v % 64 | v >> -v % 64)
end
print(popcount, rotations, 1 << 63, 1 << 64, -1 >> 1, 1 << -1, 2.0 ~ 1)
for _, f in ipairs { function() return 1.5 | 1 end, function() return {} & 1 end, function() return 2 ^ 64 | 0 end, function() return string.pack("i1", 200) end, function() return string.unpack("i4", "abc") end } do
  print(select(2, pcall(f)))
end
