-- Table functions that baseline code does itself: unpack, next, insert and remove at places, string.byte with
-- ranges, math.max and its like with any number of arguments; at the edges of what it does.
local function show(...)
  local t = table.pack(...)
  for i = 1, t.n do t[i] = type(t[i]) == "table" and "table" or tostring(t[i]) end
  return t.n .. ":" .. table.concat(t, ",")
end
local function one(f, ...) local a = f(...) return a end
local function two(f, ...) local a, b = f(...) return a, b end
local function five(f, ...) local a, b, c, d, e = f(...) return a, b, c, d, e end
local function all(f, ...) return f(...) end
local function last(f, ...) return 0, f(...) end
local function listed(f, ...) return { f(...) } end
local function none(f, ...) f(...) return "none" end
local ways = { one, two, five, all, last, function(...) return #listed(...) end, none }
local lines, sum = 0, 0
local function take(line, is_shown)
  lines = lines + 1
  for i = 1, #line do sum = (sum * 31 + line:byte(i)) % 1000000007 end
  if is_shown then print(line) end
end
local function try(is_shown, f, ...)
  for k, way in ipairs(ways) do take(show(pcall(way, f, ...)), is_shown and k % 3 == 1) end
end

local proxy = setmetatable({}, { __index = function(_, k) return k * 10 end,
  __len = function() return 3 end })
local holes = { 1, nil, 3, nil, nil, 6 }
local hashed = { [1] = "a", [2] = "b", [3] = "c", x = 1 }
for round = 1, 4 do
  for _, t in ipairs({ {}, { 1 }, { 1, 2, 3 }, holes, hashed, proxy, 5, "s" }) do
    local is_shown = round == 1
    try(is_shown, table.unpack, t)
    for _, range in ipairs({ { 1 }, { 2 }, { 0, 2 }, { 1, 0 }, { -1, 1 }, { 2, 9 }, { 1, 30 }, { 1.0,
      2.0 }, { "1", "2" },
      { math.maxinteger, math.maxinteger }, { math.maxinteger - 1, math.maxinteger } }) do
      try(is_shown and range[1] == 0, table.unpack, t, range[1], range[2])
    end
  end
  take(show(pcall(table.unpack, {}, 1, 1e7)), round == 1)
  take(show(pcall(table.unpack, {}, math.mininteger, math.maxinteger)), round == 1)
  take(show(pcall(all, table.unpack, {}, math.mininteger, math.maxinteger)), round == 1)
  local long = {}
  for i = 1, 300 do long[i] = i end
  take(show(select("#", all(table.unpack, long)), (select(300, all(table.unpack, long)))), round == 1)
  take(show(math.max(table.unpack(long))), round == 1)
end

-- next
for round = 1, 4 do
  try(round == 1, next, {})
  try(round == 1, next, { 7 })
  try(round == 1, next, { 7 }, 1)
  try(round == 1, next, { a = 1 }, "a")
  try(round == 1, next, { a = 1 }, "b")
  try(round == 1, next, { 7, 8 }, 1.0)
  try(round == 1, next, { 7 }, nil, 3)
  try(round == 1, next, 5)
  try(round == 1, next)
  local t, seen, key = { 1, 2, 3, x = 4, y = 5, [2.5] = 6, [true] = 7 }, 0, nil
  repeat
    local k, v = next(t, key)
    if k ~= nil then seen = seen + v t[k] = nil end
    key = k
  until k == nil
  take(show(seen, next(t)), round == 1)
end

-- insert and remove
for round = 1, 4 do
  local t = {}
  for i = 1, 20 do table.insert(t, i) end
  for i = 1, 12 do table.insert(t, i % 7 + 1, -i) end
  table.insert(t, #t + 1, "end")
  take(show(table.unpack(t)), round == 1)
  local removed = {}
  for i = 1, 14 do removed[i] = one(table.remove, t, i % 5 + 1) end
  removed[15] = table.remove(t, #t)
  table.remove(t, 1)
  removed[16] = tostring(table.remove(t, #t + 1))
  take(show(table.unpack(removed)), round == 1)
  take(show(table.unpack(t)), round == 1)
  while #t > 0 do table.remove(t) end
  for _, case in ipairs({ { {} }, { {}, 0 }, { {}, 1 }, { {}, 2 }, { { 1 }, 3 }, { { 1 }, 1.0 }, { { 1 },
    "1" }, { { 1 }, 0 },
    { { [0] = "zero" } }, { { x = 1 } }, { hashed, 9 }, { proxy, 1 }, { 5 } }) do
    take(show(pcall(one, table.remove, case[1], case[2])), round == 1)
    take(show(pcall(all, table.remove, table.unpack(case))), round == 1)
  end
  for _, case in ipairs({ { {}, 0, "x" }, { {}, 1, "x" }, { {}, 2, "x" }, { { 1, 2 }, 3, "x" }, { { 1, 2 },
    4, "x" },
    { { 1, 2 }, "2", "x" }, { { 1, 2 }, 1.0, "x" }, { { 1, 2 }, 1, nil }, { { 1 } }, { { 1 }, 1, 2, 3 },
      { 5, 1 } }) do
    take(show(pcall(none, table.insert, table.unpack(case, 1, #case == 2 and 3 or #case))), round == 1)
    take(show(case[1] ~= 5 and table.unpack(case[1])), round == 1)
  end
end
-- a queue, with collections and objects that nothing else keeps
collectgarbage("generational")
local queue, checked = {}, 0
for i = 1, 4000 do
  table.insert(queue, { i })
  table.insert(queue, 1, { -i })
  if #queue > 40 then
    for _ = 1, 3 do checked = checked + table.remove(queue, 2)[1] end
    checked = checked + table.remove(queue)[1]
  end
  if i == 2000 then collectgarbage("incremental") end
end
print(checked, #queue, queue[1][1], queue[#queue][1])

-- bytes and numbers
for round = 1, 4 do
  for _, s in ipairs({ "", "a", "hello", ("x"):rep(30), 12 }) do
    for _, range in ipairs({ {}, { 1 }, { 0 }, { -1 }, { 9 }, { -9 }, { 1, -1 }, { 2, 3 }, { 0, 2 }, { -3,
      -2 }, { -99, 99 },
      { 3, 2 }, { -2, -3 }, { 0, 0 }, { -99, -98 }, { math.mininteger, math.maxinteger },
        { math.maxinteger }, { 1.0 }, { "2" } }) do
      try(round == 1 and s == "hello" and #range == 2, string.byte, s, table.unpack(range))
    end
  end
  for _, list in ipairs({ { 1 }, { 2, 1.5 }, { 1, 1.0 }, { 1.0, 1 }, { 3, 2, 1 }, { 0 / 0, 1 }, { 1,
    0 / 0 }, { 1, 2, 0 / 0, 3 }, { -0.0, 0 },
    { math.maxinteger, 2 ^ 63 }, { "a", "b" }, { 1, "2" }, { {}, {} }, { nil }, { 2 ^ 53,
      (1 << 53) + 1 } }) do
    try(round == 1, math.max, table.unpack(list))
    try(round == 1, math.min, table.unpack(list))
    try(round == 1 and #list == 1, math.tointeger, table.unpack(list))
  end
  for _, v in ipairs({ 3.0, 3.5, 2 ^ 63, -2 ^ 63, "8", "x", math.huge }) do try(round == 1, math.tointeger,
    v) end
end
print(lines, sum)
