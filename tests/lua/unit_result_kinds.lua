-- What functions that call themselves return: values of all types by the same return, nothing or one value,
-- several values; and callers that want none, one, two or all of them.
local kinds = { 1, 1.5, "text", true, false, { 7 }, print }
local function any(n, k)
  if n == 0 then return kinds[k] end
  return (any(n - 1, k))
end
local function text(v)
  if type(v) == "table" then return "table " .. v[1] end
  if type(v) == "function" then return "function" end
  return tostring(v)
end
for k = 1, 8 do
  for n = 0, 9, 3 do io.write(text(any(n, k)), " ") end
  print()
end
for n = 1, 40 do io.write(text(any(n % 6, n % 8 + 1)), n % 8 == 0 and "\n" or " ") end

local calls = 0
local function nothing(n)
  calls = calls + 1
  if n > 0 then nothing(n - 1) end
end
local function sometimes(n)
  if n > 0 then
    local below = sometimes(n - 1)
    if n % 3 == 0 then return n end
    if below then return end
  end
end
local function several(n)
  if n == 0 then return 1, 2, 3 end
  local a, b = several(n - 1)
  return a + b, b, n
end
for i = 1, 20 do
  nothing(i)
  local one = nothing(2)
  local two, more = sometimes(i)
  print(i, calls, one, two, more, select("#", nothing(1)), select("#", sometimes(i)), (sometimes(i)))
  print(i, several(i % 8), (several(i % 7)))
  print(select("#", several(i)), ({ several(3) })[3], #{ sometimes(i), 1 })
end
