-- Deep recursion, and depth that goes up and down: 10, 300, 3000, 50000 levels, in the main program and in
-- coroutines, with the collector, with a value that changes its type at the bottom.
local function sum(n) if n == 0 then return 0 end return n + sum(n - 1) end
local function chain(n, last) if n == 0 then return last end return { n = n, next = chain(n - 1, last) } end
local function length(c) if not c then return 0 end return 1 + length(c.next) end
for _, n in ipairs { 10, 300, 3000, 50000, 10, 3000, 300, 1 } do
  print(n, sum(n), sum(n + 0.0), length(chain(n // 2, false)), length(chain(n // 5)))
end
local function wave(n, up)
  if n == 0 then return up == 0 and 1 or wave(up, 0) + 1 end
  return wave(n - 1, up) + 1
end
for i = 1, 12 do
  local n = i * i * i
  io.write(wave(n, n // 2), " ", wave(i, n), " ", wave(n, 0), i % 4 == 0 and "\n" or " ")
end
for _, n in ipairs { 5, 2000, 20000, 7 } do
  local co = coroutine.wrap(function(m) while true do m = coroutine.yield(sum(m)) end end)
  io.write(co(n), " ", co(n // 2), " ", co(n * 2), " ")
end
print()
local bottom = 0
local function bottoms(n)
  if n == 0 then bottom = bottom + 1 return bottom % 3 == 0 and 0.5 or bottom end
  local r = bottoms(n - 1)
  return r
end
for i = 1, 18 do io.write(bottoms(i * 100), i % 6 == 0 and "\n" or " ") end
local function collect(n)
  local t = { n }
  if n % 500 == 0 then collectgarbage() end
  if n == 0 then return 0 end
  return collect(n - 1) + t[1]
end
print(collect(10), collect(3000), collect(10), collect(999))
