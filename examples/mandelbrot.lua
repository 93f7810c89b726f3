-- The Mandelbrot set with complex numbers as tables: every sum and product makes a record that the next one takes apart.
--
--     tracelift run --stats examples/mandelbrot.lua 200
local size = tonumber(arg and arg[1]) or 200

local inside = 0
for row = 0, size - 1 do
  for column = 0, size - 1 do
    local c = { re = column / size * 3.0 - 2.0, im = row / size * 3.0 - 1.5 }
    local z = { re = 0.0, im = 0.0 }
    local left = 50
    while left > 0 and z.re * z.re + z.im * z.im < 4.0 do
      local square = { re = z.re * z.re - z.im * z.im, im = 2.0 * z.re * z.im }
      z = { re = square.re + c.re, im = square.im + c.im }
      left = left - 1
    end
    if left == 0 then inside = inside + 1 end
  end
end
print(string.format("%d of %d points are inside", inside, size * size))
