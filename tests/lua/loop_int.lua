-- Numeric loops over integers: steps of both signs, ends at the edges of the range, loops that do not run.
local function loop(first, last, step)
  local count, sum = 0, 0
  for i = first, last, step do
    count = count + 1
    sum = sum + i
    if count >= 40 then break end
  end
  print(first, last, step, count, sum)
end
loop(1, 10, 1) loop(10, 1, 1) loop(10, 1, -1) loop(1, 10, 3) loop(1, 11, 3) loop(10, -10, -7) loop(5, 5, 1) loop(5, 5, -1)
loop(math.maxinteger - 5, math.maxinteger, 1)
loop(math.maxinteger - 5, math.maxinteger, 2)
loop(math.maxinteger - 1, math.maxinteger, math.maxinteger)
loop(math.mininteger, math.mininteger + 5, 1)
loop(math.mininteger + 5, math.mininteger, -1)
loop(math.mininteger + 5, math.mininteger, -2)
loop(0, math.mininteger, math.mininteger)
loop(math.mininteger, math.maxinteger, 1)
loop(math.maxinteger, math.mininteger, -1)
loop(1, 5.9, 1) loop(1, -0.5, 1) loop(5, 0.5, -1) loop(1, 1 / 0, 1) loop(1, -1 / 0, -1) loop(1, 0 / 0, 1)
loop(math.mininteger, math.maxinteger, math.maxinteger)
print(pcall(loop, 1, 10, 0))
print(pcall(loop, 1, "x", 1))
print(pcall(loop, {}, 1, 1))
