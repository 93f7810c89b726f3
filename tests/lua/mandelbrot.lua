-- Float arithmetic with an inner loop that is left at varying times.
local rows = {}
for y = 0, 11 do
  local line = {}
  for x = 0, 31 do
    local cr, ci = x / 12 - 2, y / 6 - 1
    local zr, zi, n = 0.0, 0.0, 0
    while n < 30 do
      local zr2, zi2 = zr * zr, zi * zi
      if zr2 + zi2 > 4 then break end
      zi = 2 * zr * zi + ci
      zr = zr2 - zi2 + cr
      n = n + 1
    end
    line[#line + 1] = n == 30 and "#" or n > 5 and "+" or "."
  end
  rows[#rows + 1] = table.concat(line)
end
print(table.concat(rows, "\n"))
