-- The loop variable is a copy: assigning to it changes neither the count nor the next value.
local s = 0
for i = 1, 20 do
  s = s + i
  i = i * 100
  s = s + i
end
print(s)
for i = 1, 12 do
  if i % 2 == 0 then i = "even" elseif i % 3 == 0 then i = nil end
  io.write(tostring(i), " ")
end
print()
local n = 20
local count = 0
for i = 1, n do n = 3; count = count + 1 end
print(count, n)
for x = 1.0, 4.0, 0.5 do x = x * 2; io.write(x, " ") end
print()
