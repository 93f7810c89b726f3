-- While loops with conditions on integers, floats, tables and calls.
local i, s = 0, 0
while i < 50 do i = i + 1; s = s + i end
print(i, s)
local x = 1.0
while x < 1e6 do x = x * 1.5 end
print(x)
local a = { 5, 4, 3, 2, 1, 0 }
local k = 1
while a[k] > 0 do k = k + 1 end
print(k)
local list = nil
for n = 1, 15 do list = { value = n, next = list } end
local sum, node = 0, list
while node do sum = sum + node.value; node = node.next end
print(sum)
local n, steps = 27, 0
while n ~= 1 do
  if n % 2 == 0 then n = n // 2 else n = 3 * n + 1 end
  steps = steps + 1
end
print(steps)
while false do print("never") end
local c = 10
while c > 0 and s ~= 0 do c = c - 1; if c == 3 then s = 0 end end
print(c, s)
