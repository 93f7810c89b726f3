-- Loops of every form in functions that have code of their own, and jumps back from every kind of comparison.
local function sum_for (a, b, c) local s = 0 for i = a, b, c do s = s + i end return s end
local function last_for (a, b, c) local n = 0 for i = a, b, c do n = n + 1 if n > 20 then break end end return n end
local function repeat_lt (n) local i = 0 repeat i = i + 1 until not (i < n) return i end
local function repeat_le (n) local i = 0 repeat i = i + 1 until not (i <= n) return i end
local function repeat_gt (n) local i = n repeat i = i - 1 until not (i > 3) return i end
local function repeat_eq (n) local i, j = 0, n repeat i = i + 1 until i == j return i end
local function repeat_eqk (n) local i = 0 repeat i = i + 1 until i == 17 return i end
local function repeat_string (t) local i = 0 repeat i = i + 1 until t[i] == "end" return i end
local function repeat_nil (t) local i = 0 repeat i = i + 1 until t[i] == nil return i end
local function repeat_test (t) local i = 0 repeat i = i + 1 until not t[i] return i end
local function repeat_set (t) local i, x = 0 repeat i = i + 1 x = t[i] and t[i] or "none" until x == "none" return i end
local function repeat_float (n) local i = 0.5 repeat i = i + 1 until i > n return i end
local function while_and (t) local i = 1 while i < 100 and t[i] do i = i + 1 end return i end
local function while_true (n) local i = 0 while true do i = i + 1 if i >= n then break end end return i end
local function goto_continue (n)
  local s, i = 0, 0
  ::top::
  i = i + 1
  if i % 2 == 0 then goto continue end
  s = s + i
  ::continue::
  if i < n then goto top end
  return s
end
local function nested (n)
  local s = 0
  for i = 1, n do for j = i, n do if (i + j) % 3 == 0 then goto next end s = s + i * j ::next:: end end
  return s
end
local function pairs_sum (t) local n, s = 0, 0 for k, v in pairs(t) do n = n + 1 s = s + v end return n, s end
local function next_sum (t) local s = 0 for k, v in next, t do s = s + v end return s end
local function next_key (t) local s = 0 for k in next, t do s = s + #tostring(k) end return s end
local function ipairs_sum (t) local s = 0 for i, v in ipairs(t) do s = s + i * v end return s end
local function erase (t) for k in pairs(t) do t[k] = nil end return next(t) end
local function iterate (f, s, c) local n = 0 for a, b, c, d in f, s, c do n = n + (d == nil and a or 0) end return n end
local function counter (n, i) if i < n then return i + 1, "x", "y" end end
local function closing (n)
  local out = { }
  for i in counter, n, 0, setmetatable({ }, { __close = function () out[#out + 1] = "closed" end }) do
    out[#out + 1] = i
    if i == 3 then break end
  end
  return table.concat(out, " ")
end
local mixed = { 10, 20, 30, nil, 50, x = 1, y = 2, [1.5] = 3, [-1] = 4, [100] = 5 }
local chained = setmetatable({ 1, 2 }, { __index = function (t, i) if i < 6 then return i end end })
local list = { "a", "b", "c", "end" }
for round = 1, 40 do
  local big = { }
  for i = 1, round do big[i] = i big["k" .. i] = i end
  local r = {
    sum_for(1, 10, 1), sum_for(10, 1, -3), sum_for(1, 0, 1), sum_for(1.0, 3, 0.5), sum_for(1, 3.7, 1),
    sum_for(math.maxinteger - 2, math.maxinteger, 1) ~= 0, sum_for(math.mininteger + 2, math.mininteger, -1) ~= 0,
    last_for(1, math.huge, 1), last_for(1, -math.huge, -1), last_for(math.mininteger, math.maxinteger, math.maxinteger),
    pcall(sum_for, 1, 10, 0), pcall(sum_for, "1", 10, 1), pcall(sum_for, 1, { }, 1),
    repeat_lt(9), repeat_le(9), repeat_gt(20), repeat_eq(11), repeat_eqk(), repeat_string(list), repeat_nil(list),
    repeat_test(list), repeat_set(list), repeat_float(12), while_and(list), while_true(15), goto_continue(21), nested(8),
    pairs_sum(mixed), next_sum(mixed), next_key(mixed), ipairs_sum(mixed), ipairs_sum(chained), erase(big),
    iterate(counter, 12, 0), iterate(next, { 1, 2 }), closing(9), pairs_sum { }, ipairs_sum { },
  }
  for i = 1, #r do r[i] = tostring(r[i]) end
  if round % 13 == 1 then print(table.concat(r, " ")) end
end
-- an iterator that erases what it stands on, and one that gets a key that is not there
local t = { a = 1, b = 2, c = 3 }
for round = 1, 30 do
  local function bad () for k in next, t, "nowhere" do end end
  local ok, message = pcall(bad)
  if round % 10 == 0 then print(ok, message) end
  local ok, message = pcall(function () for k in next, { 1 }, 1.0 do end end)
  if round % 10 == 0 then print(ok, message) end
  local p = setmetatable({ }, { __pairs = function () return counter, 5, 0 end })
  local n = 0 for k in pairs(p) do n = n + k end
  if round % 10 == 0 then print(n) end
end
-- expressions that end a loop: they jump back themselves
local function down_or (t, n)
  local steps = 0
  while n ~= 0 and steps < 90 do
    steps = steps + 1
    n = n % 2 == 0 and t[n] or n - 1
  end
  return steps
end
local function down_and (t, n)
  local left = n
  while left do
    n = n - 1
    left = n > 0 and t[n]
  end
  return n
end
local halves = { }
for i = 1, 40 do halves[i] = i % 3 ~= 0 and i // 2 or false end
for round = 1, 40 do
  local a, b = 0, 0
  for n = 1, 40 do a, b = a + down_or(halves, n), b + down_and(halves, n) end
  if round % 13 == 1 then print(a, b) end
end
