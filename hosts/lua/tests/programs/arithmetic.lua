-- Every arithmetic and bitwise operation, over integers, floats, strings and constants.
local values = { 0, 1, -1, 7, -13, 2.5, -0.75, 1e15, math.maxinteger, math.mininteger, "10", "0x1p4", " 3 " }
local total = 0
for _, a in ipairs(values) do
  for _, b in ipairs(values) do
    local line = { tostring(a + b), tostring(a - b), tostring(a * b), tostring(a / b) }
    local ok, quotient = pcall(function() return a // b end)
    line[#line + 1] = ok and tostring(quotient) or "error"
    local fine, rest = pcall(function() return a % b end)
    line[#line + 1] = fine and tostring(rest) or "error"
    for _, f in ipairs({ function() return a & b end, function() return a | b end, function() return a ~ b end,
      function() return a << (b % 70) end, function() return a >> (b % 70) end, function() return ~a end }) do
      local good, result = pcall(f)
      line[#line + 1] = good and tostring(result) or "none"
    end
    line[#line + 1] = tostring(-a) .. tostring(a ^ 2) .. tostring(2 ^ (b % 5))
    if _ % 4 == 1 then print(table.concat(line, " ")) end
    total = total + #line
  end
end
local x, y, z = 5, 3.5, 0
for i = 1, 300 do
  x = (x * 31 + i) & 0xFFFF
  y = y * 1.01 - 0.25
  z = z + (x // 7) % 11 - (x >> 2) + (1 << (i % 8)) + (i ~ 5) + (i | 8) - 3
  z = z + x % 16 + 2.0 - y // 1
  z = 10 - z; z = z / 2; z = -z
end
print(total, x, y, z)
