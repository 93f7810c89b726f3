-- Numerals of other bases: strings to text and back, a few bits at a time.
local basexx = require("basexx")
local parts = {}
for i = 1, 900 do parts[i] = string.char(i * 7 % 256, i % 251, i * 13 % 256) end
local bytes = table.concat(parts)
for i = 1, 4 do
  local text64, text32, hex = basexx.to_base64(bytes), basexx.to_base32(bytes), basexx.to_hex(bytes)
  assert(basexx.from_base64(text64) == bytes and basexx.from_base32(text32) == bytes)
  assert(basexx.from_hex(hex) == bytes)
  bytes = bytes:sub(2)
  print(i, #text64, #text32, #hex, text64:sub(-8), text32:sub(1, 8))
end
