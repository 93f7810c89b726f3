-- Leaves a loop in every way and shows what its variables hold then.
--
-- A form is a function (n, at, way, missing) with a loop of n iterations that makes objects; in iteration 'at' it does what
-- 'way' says, and behind its loop it reads a field of 'missing', which is nil. So each call ends with an error, and the
-- handler sees the form's variables as they are then. 'twins' makes, for variables by name, the same object outside
-- any loop: 'pairs' must go through both in the same order, also when more keys have come.
local ways = {}

local function order(t)
  local names = {}
  for k in pairs(t) do names[#names + 1] = tostring(k) end
  return table.concat(names, " ")
end

-- Objects get numbers as they are met, so that the text shows which are the same.
local function text(value, numbers)
  if type(value) ~= "table" then return tostring(value) end
  if numbers[value] then return "#" .. numbers[value] end
  numbers.count = (numbers.count or 0) + 1
  numbers[value] = numbers.count
  local keys, parts = {}, {}
  for k in pairs(value) do keys[#keys + 1] = k end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  for i, k in ipairs(keys) do parts[i] = tostring(k) .. "=" .. text(value[k], numbers) end
  return "#" .. numbers[value] .. "{" .. table.concat(parts, ",") .. "}" .. #value
end

local function variables(level)
  local names, values = {}, {}
  local index = 1
  while true do
    local name, value = debug.getlocal(level + 1, index)
    if not name then break end
    if name:match("^%a") then names[#names + 1], values[name] = name, value end
    index = index + 1
  end
  return names, values
end

local function same_order(object, twin)
  if type(object) ~= "table" then return "" end
  local before = order(object) == order(twin)
  object.later, object[1], object[7], object.x, object.late = 1, 2, 3, nil, 4
  twin.later, twin[1], twin[7], twin.x, twin.late = 1, 2, 3, nil, 4
  return before and order(object) == order(twin) and "same order" or "OTHER ORDER"
end

function ways.leave(form, way, n, at, twins)
  local names, values
  local _, message = xpcall(form, function(m)
    names, values = variables(2)
    return m
  end, n, at, way, nil)
  local parts, numbers = {}, {}
  for i, name in ipairs(names) do parts[i] = name .. "=" .. text(values[name], numbers) end
  print(way, at, message:gsub("^.-:%d+: ", ""), table.concat(parts, " "))
  for name, twin in pairs(twins or {}) do print(name, same_order(values[name], twin())) end
end

-- The first call warms the loop up: the way is none of the common ones.
function ways.all(form, twins)
  ways.leave(form, "end", 14, 99, twins)
  for _, way in ipairs { "end", "break", "keep", "index", "call", "float" } do
    for _, at in ipairs { 2, 3, 11 } do ways.leave(form, way, 14, at, twins) end
  end
  ways.leave(form, "end", 0, 99)
  for n = 1, 3 do ways.leave(form, "end", n, 99, twins) end
end

return ways
