-- Shifts by any number, inversions, closing where nothing is open, and lengths under metatables: baseline
-- code does the common ones, and leaves the rest to helpers.

local function f(x, y) return x << y, x >> y, 1 << y, 1 >> y, ~x, ~y end

local numbers = { 1, -1, 0x123456789abcdef0, math.mininteger, math.maxinteger, 5.0 }
local shifts = { 0, 1, 5, 63, 64, 65, -1, -63, -64, -65, math.mininteger, math.maxinteger, 3.0 }
local sum = 0
for round = 1, 20 do
  for _, y in ipairs(shifts) do
    for _, x in ipairs(numbers) do
      local line = table.concat({ f(x, y) }, " ")
      if round == 1 then print(x, y, line) end
      for n = 1, #line do sum = (sum * 31 + line:byte(n)) % 1000003 end
    end
  end
end
print(sum)
print(pcall(f, 1.5, 2))
print(pcall(f, 1, {}))
print(pcall(f, "9", 1))

local m = setmetatable({ 1, 2 }, {
  __shl = function(a, b) return "shl" end, __shr = function(a, b) return "shr" end,
  __bnot = function() return "bnot" end, __index = { 3 },
})
local function g(m) return m << 1, m >> 1, 1 << m, 2 >> m, ~m, #m end
for round = 1, 20 do
  if round % 10 == 1 then print(g(m)) else g(m) end
end
getmetatable(m).__len = function() return 77 end
print(g(m))
getmetatable(m).__len = nil
print(g(m))

-- Numbers below 0 in the instructions themselves, for integers and floats.
local function small(i, n)
  local x, y = -7, -7.0
  return -1 << i, -5 << i, -128 << i, i << -3, i >> -3, i >> 3, n - 1, n + -9, n * -3, n // -2, n % -4, n & -8,
      n | -16, n ~ -32, x, y, n < -3 and 1 or 2, n <= -3 and 1 or 2,
      n > -3 and 1 or 2, n >= -3 and 1 or 2, n == -3 and 1 or 2, n ~= -3 and 1 or 2
end
for n = -5, 100 do
  local i, f = table.concat({ small(n, n) }, " "), table.concat({ small(n, n + 0.0) }, " ")
  if n < 2 or n % 8 == 0 then
    print(i)
    print(f)
  end
end

-- A variable that is captured now and then, in a block that is left by a jump.
local captured = {}
local function h(n)
  local s = 0
  for i = 1, n do
    local x = i
    if i % 3 == 0 then captured[#captured + 1] = function() x = x + 1 return x end end
    s = s + x
    if i % 5 == 0 then goto next end
    s = s + 1
    ::next::
  end
  return s
end
local function closed(n)
  local log = 0
  for i = 1, n do
    local guard <close> = i % 4 == 0 and setmetatable({}, { __close = function() log = log + i end }) or nil
    log = log + 1
  end
  return log
end
for round = 1, 20 do
  if round % 10 == 1 then print(h(10), closed(10)) else h(10) closed(10) end
end
local total = 0
for _, f in ipairs(captured) do total = total + f() + f() end
print(#captured, total)
