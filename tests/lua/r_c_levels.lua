-- Recursion through iterators written in Lua, with loops in them, until C calls nest too deep: at the depth
-- of stock Lua.
local deepest = 0
local walk
local function step(n, i)
  local sum = 0
  for k = 1, 3 do
    if k > i + 1 then break end
    sum = sum + k
  end
  if i == 1 and n > 0 then walk(n - 1) end
  if i < 2 then return i + 1, sum end
end
function walk(n)
  if n < deepest then deepest = n end
  local total = 0
  for i, s in step, n, 0 do
    for k = 1, 3 do if k > i then break end total = total + s end
  end
  return total
end
for _, n in ipairs { 5, 10, 20, 50, 100, 150, 400, 400, 400 } do
  deepest = n
  local ok, message = pcall(walk, n)
  print(n, ok, tostring(message):gsub("^.*:%d+: ", ""), n - deepest)
end
