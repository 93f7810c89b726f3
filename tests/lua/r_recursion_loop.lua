-- A loop of few iterations in a function that a recursive one calls: it is left by a return into frames at
-- every depth, and entered from frames that code itself has made.
local t = { 1, 2, 0, 4 }
local function find(list, what)
  for i = 1, #list do
    if list[i] == what then return i end
  end
  return -1
end
local function tree(depth, what)
  local sum = find(t, what)
  if depth > 0 then
    sum = sum + tree(depth - 1, what) * 3
    sum = sum + tree(depth - 1, what)
  end
  return sum
end
for what = 0, 4 do print(what, tree(6, what)) end
for round = 1, 30 do
  local sum = 0
  for i = 1, round % 4 do sum = sum + tree(i, i) end
  print(round, sum)
end
