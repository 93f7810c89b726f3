-- Bytes in hot loops: checksums, base64, hexadecimal, run lengths, a cipher, and hashes of strings made by rep and sub.
local table32 = {}
for i = 0, 255 do
  local c = i
  for _ = 1, 8 do c = c & 1 == 1 and 0xEDB88320 ~ c >> 1 or c >> 1 end
  table32[i] = c
end
local function crc32(s)
  local c = 0xFFFFFFFF
  for i = 1, #s do c = table32[(c ~ s:byte(i)) & 255] ~ c >> 8 end
  return c ~ 0xFFFFFFFF
end
local function adler32(s)
  local a, b = 1, 0
  for i = 1, #s do
    a = (a + s:byte(i)) % 65521
    b = (b + a) % 65521
  end
  return b << 16 | a
end
local function fnv(s)
  local h = 0xcbf29ce484222325
  for i = 1, #s do h = (h ~ s:byte(i)) * 0x100000001b3 end
  return h
end
print(("%08x %08x %016x"):format(crc32("123456789"), adler32("Wikipedia"), fnv("foobar")))
local letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
local function base64(s)
  local out = {}
  for i = 1, #s, 3 do
    local a, b, c = s:byte(i, i + 2)
    local bits = a << 16 | (b or 0) << 8 | (c or 0)
    for k = 0, 3 do
      local at = bits >> 18 - 6 * k & 63
      out[#out + 1] = (k == 3 and not c or k == 2 and not b) and "=" or letters:sub(at + 1, at + 1)
    end
  end
  return table.concat(out)
end
local values = {}
for i = 1, #letters do values[letters:byte(i)] = i - 1 end
local function from_base64(s)
  local out, bits, count = {}, 0, 0
  for i = 1, #s do
    local v = values[s:byte(i)]
    if v then
      bits, count = bits << 6 | v, count + 6
      if count >= 8 then
        count = count - 8
        out[#out + 1] = string.char(bits >> count & 255)
      end
    end
  end
  return table.concat(out)
end
local text = ("The quick brown fox\0jumps over \255 the lazy dog. "):rep(4)
for n = 0, 6 do io.write(base64(text:sub(1, n)), " ") end
print()
local good = 0
for n = 0, 120 do
  local part = text:sub(n // 2 + 1, n)
  if from_base64(base64(part)) == part then good = good + 1 end
end
print(good, #base64(text), crc32(base64(text)))
local function hex(s) return (s:gsub(".", function(c) return ("%02x"):format(c:byte()) end)) end
local function unhex(s) return (s:gsub("%x%x", function(h) return string.char(tonumber(h, 16)) end)) end
print(hex(text:sub(15, 36)), unhex(hex(text)) == text)
local function run_lengths(s)
  local out, i = {}, 1
  while i <= #s do
    local c, n = s:sub(i, i), 1
    while s:sub(i + n, i + n) == c do n = n + 1 end
    out[#out + 1] = n > 1 and n .. c or c
    i = i + n
  end
  return table.concat(out)
end
local function expand(s) return (s:gsub("(%d+)(.)", function(n, c) return c:rep(tonumber(n)) end)) end
local runs = ""
for i = 1, 40 do runs = runs .. string.char(97 + i % 5):rep(i * i % 7) end
local packed = run_lengths(runs)
print(#runs, packed:sub(1, 40), expand(packed) == runs)
local function caesar(s, k)
  local out = {}
  for i = 1, #s do
    local b = s:byte(i)
    if b >= 97 and b <= 122 then b = (b - 97 + k) % 26 + 97 elseif b >= 65 and b <= 90 then b = (b - 65 + k) % 26 + 65 end
    out[i] = string.char(b)
  end
  return table.concat(out)
end
local secret = caesar("Attack at Dawn, by the Zoo", 3)
print(secret, caesar(secret, -3), caesar(caesar(secret, 100), -100) == secret)
local seen, collisions = {}, 0
for i = 1, 250 do
  local h = fnv("key" .. i) % 1009
  if seen[h] then collisions = collisions + 1 end
  seen[h] = true
end
print(collisions, fnv(("ab"):rep(100, "-")), adler32(text:reverse():upper():lower()))
