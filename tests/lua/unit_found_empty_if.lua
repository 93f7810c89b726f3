-- Tests with nothing to do, before arithmetic whose result is tested again: in loops, functions, recursion.
local count = 0
local function f(n)
  count = count + 1
  if count % 17 == 2 then
  end
  if n % 4 == 2 then
    count = count + 100
  end
end
for i = 1, 12 do f(i) io.write(count, " ") end
print()
local function down(n, x)
  if n > 3 then end
  x = x + n * 2
  if x < n then end
  local y = x - 1
  if y % 2 == 0 then else end
  if x % 3 == 1 then return x end
  if n <= 0 then return y end
  return down(n - 1, y) + 1
end
for i = 1, 30 do io.write(down(i % 9, i), " ", down(i % 7, i + 0.5), i % 10 == 0 and "\n" or " ") end
local s, a = 0, 0
for i = 1, 60 do
  if i == 7 then end
  a = i // 4
  if a >= 3 then end
  local b = a & 3
  if b ~= 1 then s = s + b end
  if s > 20 then elseif b == 2 then s = s - 1 else end
  local c = -b
  if c == -3 then s = s * 2 % 101 end
end
print(s, a)
