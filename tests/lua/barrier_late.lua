-- References stored by loops that were compiled when everything was young, into tables and upvalues that are old by now.
-- The first element is a number: the interpreter, which makes the first iteration, must not do the collector's work.
collectgarbage("generational")
local function holder()
  local kept
  return function(list, n) for i = 1, n do kept = list[i] end end, function() return kept end
end
local keep, kept = holder()
local function store(to, from, n) for i = 1, n do to[i] = from[i] end end
local function attach(to, from, n) for i = 1, n do to.x = from[i] end end
local function fresh(n)
  local list = { 1 }
  for i = 2, n do list[i] = { i, "value " .. i } end
  return list
end
local array, record = fresh(20), { x = {}, y = 1 }
keep(fresh(20), 20) store(array, fresh(20), 20) attach(record, fresh(20), 20)
for round = 1, 6 do
  collectgarbage() collectgarbage()
  keep(fresh(3 + round), 3 + round)
  store(array, fresh(20), 20 - round)
  attach(record, fresh(5), 5)
  collectgarbage("step", 0)
  local waste = {}
  for i = 1, 200 do waste[i] = { -i, "waste " .. i } end
  collectgarbage("step", 0)
  local sum = 0
  for i = 2, 20 do sum = sum + array[i][1] end
  print(round, kept()[1], kept()[2], sum, array[7][2], record.x[1], record.x[2])
end
collectgarbage("incremental")
for round = 1, 30 do
  collectgarbage("step", 1)
  keep(fresh(3), 3)
  store(array, fresh(20), 20)
  attach(record, fresh(3), 3)
  if round % 10 == 0 then collectgarbage() print(kept()[2], array[20][2], record.x[2]) end
end
