-- Line hooks that are set and removed inside called functions: the lines that are seen are stock Lua's.
local lines = {}
local function start()
  lines = {}
  debug.sethook(function(_, line) lines[#lines + 1] = line end, "l")
end
local function stop()
  debug.sethook()
end
local function work(n, from, to)
  local s = 0
  for i = 1, n do
    if i == from then start() end
    s = s + i
    if i == to then
      stop()
    end
    s = s * 3 % 1009
  end
  return s
end
for round = 1, 30 do
  local s = work(round + 10, round % 5 == 0 and round // 2 + 1 or 0, round // 2 + 3)
  stop()
  print(round, s, #lines, table.concat(lines, " "))
  lines = {}
end
-- Set by a metamethod, removed by an iterator.
local at
local box = setmetatable({}, {
  __index = function(_, k)
    if k == at then start() end
    return k
  end,
})
local function upto(n, i)
  if i == at + 1 then stop() end
  if i < n then return i + 1 end
end
for round = 1, 20 do
  at = round % 4 == 0 and round or 100
  local s = 0
  for i in upto, 24, 0 do
    s = s + box[i]
    s = s * 2 % 1009
  end
  print(round, s, #lines, table.concat(lines, " "))
  lines = {}
end
-- Set two functions further down, at the end of a loop; and while results are on their way.
local function third(i) if i == 17 then start() end return i end
local function second(i) return third(i) + 1 end
local function first(i)
  local r = second(i)
  return r, r * 2
end
for round = 1, 6 do
  local s = 0
  for i = 1, 20 do
    local a, b = first(i)
    s = s + a + b
  end
  stop()
  print(round, s, #lines, table.concat(lines, " "))
end
