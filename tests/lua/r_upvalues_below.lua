-- Loops that write variables of the function below them, which reads them after the return; variables that
-- are closed by the return; closures that live on.
local function each(list, f)
  for i = 1, #list do
    if list[i] == 0 then return i end
    f(list[i])
  end
  return #list
end
local function sum(list)
  local total, calls = 0, 0
  local n = each(list, function(x) total = total + x calls = calls + 1 end)
  local before = total
  n = n + each(list, function(x) total = total - x / 2 end)
  return total, before, n, calls
end
for round = 1, 40 do
  local list = {}
  for i = 1, round % 6 + 2 do list[i] = (i * round) % 7 end
  print(round, sum(list))
end
local function counter(n)
  local count = 0
  local function up() count = count + 1 return count end
  for i = 1, 5 do
    if i > n then return up, count end
    up()
  end
  return up, count
end
local kept = {}
for round = 1, 40 do
  local up, count = counter(round % 5)
  kept[round % 3 + 1] = up
  if round % 10 == 0 then print(round, count, up(), kept[1](), kept[round % 3 + 1]()) end
end
local function closes(n)
  local log = {}
  for i = 1, 4 do
    local guard <close> = setmetatable({}, { __close = function() log[#log + 1] = i end })
    if i > n then return log end
  end
  return log
end
for round = 1, 20 do print(table.concat(closes(round % 5), ",")) end
