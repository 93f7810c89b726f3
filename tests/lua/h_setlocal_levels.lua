-- Locals of the callers, one, two and three levels up, that are set from inside calls.
local function set(level, name, value)
  local n, found = 1, nil
  while true do
    local key = debug.getlocal(level + 1, n)
    if not key then break end
    if key == name then found = n end
    n = n + 1
  end
  if found then return debug.setlocal(level + 1, found, value) end
end
local function inner(i, what)
  local mine = i
  if what == 1 then set(1, "mine", 1000) end
  if what == 2 then set(2, "sum", 5000) end
  if what == 3 then set(3, "total", -1) end
  if what == 4 then set(2, "label", i % 2 == 0 and "even" or i) end
  return mine
end
local function middle(n, what, at)
  local sum, label = 0, nil
  for i = 1, n do
    sum = sum + inner(i, i == at and what or 0)
  end
  return sum, label
end
local function outer(what, at)
  local total = 0
  for k = 1, 4 do
    local sum, label = middle(24, what, at * 3 + k % 2)
    total = total + sum
    if label then total = total + #tostring(label) end
  end
  return total
end
for what = 0, 4 do
  for at = 1, 6 do print(what, at, outer(what, at)) end
end
-- The loop's own control variables.
for round = 1, 10 do
  local seen = {}
  for i = 1, 10 do
    if i == 4 and round > 3 then
      for n = 1, 20 do
        local name = debug.getlocal(1, n)
        if not name then break end
        if name == "i" then debug.setlocal(1, n, 40 + round) end
      end
    end
    seen[#seen + 1] = i
  end
  print(round, table.concat(seen, " "))
end
