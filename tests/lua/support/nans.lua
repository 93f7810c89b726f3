-- Which of two NaNs comes out: all pairs of both signs and several payloads, in both orders, for every operation that hands
-- them on; with constants, and as sums that go on. The bits are shown.
local function bits(x) return string.format("%x", (string.unpack("<i8", string.pack("<d", x)))) end
local function number(b) return (string.unpack("<d", string.pack("<i8", b))) end
local all = { 1.5, -1 / 0 }
for _, b in ipairs { 0x7ff8000000000000, 0xfff8000000000000, 0x7ff8000000000001, 0xfff8000000000002, 0x7fffffffffffffff,
                     0x7ff0000000000003, 0xfff0000000000004 } do
  all[#all + 1] = number(b)
end

local function show(name, t)
  for i = 1, #t do t[i] = bits(t[i]) end
  print(name, table.concat(t, " "))
end

local function each(a)
  local add, sub, mul, div, neg, kept = {}, {}, {}, {}, {}, {}
  for i = 1, #all do
    local b = all[i]
    add[i] = a + b
    sub[i] = a - b
    mul[i] = a * b
    div[i] = a / b
    neg[i] = -(a + b)
    kept[i] = (b * a + a * b) - (b / a - a) * (b + 0.0)
  end
  show("add", add) show("sub", sub) show("mul", mul) show("div", div) show("neg", neg) show("kept", kept)
end
for i = 1, #all do each(all[i]) end

local function constants()
  local t = {}
  for i = 1, #all do
    local x = all[i]
    t[#t + 1] = x + 2.5
    t[#t + 1] = 2.5 + x
    t[#t + 1] = x - 2.5
    t[#t + 1] = 2.5 - x
    t[#t + 1] = x * 3
    t[#t + 1] = 3 * x
    t[#t + 1] = x / 0.5
    t[#t + 1] = 0.5 / x
    t[#t + 1] = -x
    t[#t + 1] = x // 2
    t[#t + 1] = x ^ 2
  end
  show("constants", t)
end
constants()

-- A sum and a product that are carried round, from memory and to memory.
local function carried(first, second)
  local s, p, t = first, first, { first, first, first }
  for i = 1, 40 do
    s = s + second
    p = second * p
    t[1] = t[1] + second
    t[2] = second + t[2]
    t[3] = t[3] * t[1]
  end
  print("carried", bits(s), bits(p), bits(t[1]), bits(t[2]), bits(t[3]))
end
for i = 3, #all do
  for j = 3, #all do carried(all[i], all[j]) end
end

-- In arms of which one is chosen.
local function chosen(a, b)
  local r = 0.0
  for i = 1, 40 do
    local x
    if i % 3 == 0 then x = a + b else x = b * a end
    r = x
  end
  print("chosen", bits(r))
end
chosen(all[3], all[4]) chosen(all[4], all[3])
