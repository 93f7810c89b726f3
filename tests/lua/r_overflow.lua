-- Recursion through a loop until the stack is full: at the same depth, with the same message.
local deepest = 0
local function down(n)
  deepest = n
  for i = 1, 3 do
    if i == 2 then return 1 + down(n + 1) end
  end
end
for round = 1, 3 do
  deepest = 0
  local ok, message = pcall(down, 1)
  print(ok, (message:gsub("\n.*", "")), deepest)
end
local function sum(n)
  local s = 0
  for i = 1, 4 do
    if i * 2 > n % 7 then s = s + i break end
  end
  if n == 0 then return s end
  return s + sum(n - 1)
end
for _, n in ipairs { 10, 1000, 20000, 10, 150000, 5 } do print(n, sum(n)) end
local co = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(sum(3000)) end end)
print(co(), co(), co())
