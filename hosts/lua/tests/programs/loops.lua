-- All kinds of loops, nested, with break, goto and odd steps.
local log = {}
local function note(...) log[#log + 1] = table.concat({ ... }, ",") end
for i = 10, 1, -3 do note(i) end
for i = 1.0, 2.0, 0.25 do note(i) end
for i = 1, 0 do note("never") end
for i = math.maxinteger - 2, math.maxinteger do note(i) end
for i = 3, 1.5, -1 do note(i) end
local count = 0
for i = 1, 20 do
  for j = i, 20, 2 do
    if j % 7 == 0 then goto continue end
    if j > 15 then break end
    count = count + i * j
    ::continue::
  end
end
note(count)
local i = 0
while true do
  i = i + 1
  local square = i * i
  if square % 5 == 1 then goto next end
  if i > 50 then break end
  count = count + square
  ::next::
end
repeat
  local half = i // 2
  i = half
  count = count + half
until half < 2
do
  local k = 0
  ::top::
  k = k + 1
  local doubled = k * 2
  if doubled < 60 then goto top end
  note(k, doubled)
end
local a, b, c = 1, 1, nil
for _ = 1, 40 do a, b = b, a + b; c = not c end
note(a, b, tostring(c))
for n = 1, 5 do
  local n = n * 2
  for m = n, 1, -1 do
    local n = m
    count = count + n
  end
end
print(count, i)
print(table.concat(log, " "))
