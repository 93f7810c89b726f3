-- Numerals of all forms, read by 'tonumber', by arithmetic on strings and by 'load'.

local function show(x)
  if math.type(x) == "float" then return string.format("%a %s", x, tostring(x)) end
  return tostring(x)
end

local fixed = {
  "", " ", "0", "-0", "+0", "00", "007", "-0.0", "0.", ".0", ".", "-", "+", "--1", "+-1", "5.", ".5",
  "5..", "1.2.3", "1e", "1e+", "1e-", "1e5", "1E5", "1e+5", "1e-5", "1e05", "1e005", "1e0005", "1e22",
  "1e23", "1e-22", "1e-23", "1e308", "1e309", "-1e309", "1e-400", "123456789012345678",
  "1234567890123456789", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
  "-9223372036854775809", "9007199254740991.0", "9007199254740992.0", "9007199254740993.0",
  "9007199254740992e1", "900719925474099.25", "0.1", "0.2", "0.3", "1.005", "2.675", "123.456e3",
  "4.9e-324", "2.2250738585072014e-308", "1.7976931348623157e308", "0000000000000000000001",
  "0.00000000000000000000001", "000000000000000000.5", "1.000000000000000000", "0x10", "-0xA", "0x",
  "0x.8", "0x1p4", "0xffffffffffffffffff", "inf", "nan", "-inf", "infinity", "1d", "1f", "1 2", "  12  ",
  "\t12\n", "\v1.5\f", "12\0", "1\0002", "1,5", "1_000", "0b1", "1e5.5", "e5", ".e5", "-.5", "-5.e1", "١" }
for i, text in ipairs(fixed) do
  print(i, show(tonumber(text)), pcall(function() return show(text + 0) end))
end

-- Numerals made by chance, as the program's own text too.
local seed = 42
local function random(n)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return seed // 8 % n
end
local function digits(most)
  local t = {}
  for i = 1, random(most + 1) do t[i] = tostring(random(10)) end
  return table.concat(t)
end
for i = 1, 1500 do
  local text = ({ "", "-", "+", " " })[random(4) + 1] .. digits(20)
  if random(3) > 0 then text = text .. "." .. digits(12) end
  if random(3) == 0 then text = text .. "e" .. ({ "", "-", "+" })[random(3) + 1] .. digits(3) end
  local value = tonumber(text)
  local loaded = load("return " .. text)
  local _, again = pcall(loaded or tostring, "none")
  print(text, show(value), show(type(again) == "number" and again or nil))
end

-- In loops.
local sum, count = 0.0, 0
for i = 1, 400 do
  local text = i % 3 == 0 and i .. "" or i % 3 == 1 and i .. ".25" or i .. "e-" .. i % 7
  sum = sum + tonumber(text)
  if tonumber(text .. "x") == nil then count = count + 1 end
end
print(show(sum), count)
