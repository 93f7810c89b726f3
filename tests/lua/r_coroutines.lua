-- Returns in coroutines: to the function that a coroutine began with, across resumptions, and below a yield.
local function skip(list, from)
  for i = from, #list do
    if list[i] > 0 then return i end
  end
  return nil
end
local function produce(list)
  local i = 0
  while true do
    i = skip(list, i + 1)
    if not i then return "end" end
    coroutine.yield(i, list[i])
    if list[i] == 3 then
      local j = skip(list, 1)
      coroutine.yield(-j, 0)
    end
  end
end
local list = {}
for i = 1, 60 do list[i] = i % 4 - 1 + i % 3 end
for round = 1, 8 do
  local co = coroutine.create(produce)
  local sum, count = 0, 0
  while true do
    local ok, i, value = coroutine.resume(co, list)
    if i == "end" then break end
    sum, count = sum + i * value, count + 1
  end
  print(round, sum, count, coroutine.status(co))
end
local function gen(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield(skip(list, i)) end end) end
for round = 1, 5 do
  local s = 0
  for i in gen(40) do s = s + i end
  print(s)
end
