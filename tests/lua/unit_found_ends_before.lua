-- A recursion by two functions, one of which comes, in some branch, to what no code can do: a side trace of a
-- unit does not end before it, as other code's do.
local steps, calls = 0, 0
local list = { 5, 6, 7, k = 3 }
local zero = 0.0
local function number(x) if type(x) == "number" then return x end return 1 end
local function collect()
  for level = 2, 8 do if not missing then break end end
  calls = calls + 1
  collectgarbage()
end

local function first(n, a, c, b)
  steps = steps + 1
  local r = second(n - 1, n, b, n)
  local s = second(n - 1, number(r), ((list[n + 1] or 1.5) - (3 % 3)), c)
end
function second(n, a, c, b)
  steps = steps + 1
  if n <= 1 then return n end
  second(n - 1, zero, b, b, (-(list[n % 5] or 7)))
  local square = (-((-n) * (-n)))
  if steps % 17 == 7 then collect() end
  local two = 2.0
  first(n - 1, 3, square, two)
end
print(pcall(second, 7, 7, list, 3))
print(steps, calls)
for i = 1, 4 do print(i, pcall(second, i + 2, 7, list, i)) print(steps, calls) end

-- One that ends by an error, by another thread, and by a function of the program that is not taken in.
local function deep(n, way)
  steps = steps + 1
  if n == 0 then
    if way == 1 then return #table.concat(list, ",") end
    if way == 2 then return select("#", table.unpack(list)) end
    if way == 3 then return coroutine.wrap(function() return steps end)() end
    if way == 4 then local ok, e = pcall(error, n) return e end
    return 0
  end
  local r = deep(n - 1, way)
  return r + n
end
for i = 1, 60 do io.write(deep(i % 7, i % 5), i % 12 == 0 and "\n" or " ") end
