-- Numeric loops over floats add the step up, with all its rounding.
local function loop(first, last, step)
  local count, final = 0, nil
  for x = first, last, step do
    count = count + 1
    final = x
    if count >= 60 then break end
  end
  print(first, last, step, count, final and string.format("%.17g", final))
end
loop(0.0, 1.0, 0.1) loop(1.0, 0.0, -0.1) loop(0.0, 1.0, 1 / 3) loop(1, 2, 0.25) loop(1.5, 5, 1) loop(3, 1.0, -0.5)
loop(0.0, 1 / 0, 1e307) loop(1e16, 1e16 + 20, 1.0) loop(0.0, -1.0, -0.3) loop(1.0, 1.0, 1.0) loop(-0.0, 0.0, 1.0)
loop(0.0, 10.0, 1 / 0) loop(1.0, 0 / 0, 1.0) loop(0 / 0, 1.0, 1.0) loop(2.0 ^ 53 - 3, 2.0 ^ 53 + 3, 1)
local s = 0
for x = 0.1, 2, 0.1 do s = s + x end
print(string.format("%.17g", s))
print(pcall(loop, 1.0, 2.0, 0.0))
