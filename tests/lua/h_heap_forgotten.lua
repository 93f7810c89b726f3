-- Called functions change everything that a loop has learned of its tables: sizes, fields, metatables, types.
local function call(f, ...) local ok, a = pcall(f, ...) assert(ok, a) return a end
local list, rec = { 1, 2, 3 }, { x = 1, y = 2.5, s = "a" }
local actions = {
  function(i) list[#list + 1] = i end,
  function(i) list[#list] = nil end,
  function(i) rec.x = rec.x + 0.5 end,
  function(i) rec.x = math.floor(rec.x) end,
  function(i) rec["n" .. i] = i rec["n" .. i - 7] = nil end,
  function(i) setmetatable(rec, i % 2 == 0 and { __index = function(_, k) return #k end } or nil) end,
  function(i) rec.y = nil end,
  function(i) rec.y = i end,
  function(i) list = { i, i + 1, i + 2, 0.5 } end,
  function(i) rec = { s = "b" .. i, x = i, y = 1 } end,
  function(i) for k in pairs(list) do list[k] = nil end list[1], list[2] = 1, "2" end,
  function(i) table.move(list, 1, #list, 2) end,
  function(i) list.hash = i collectgarbage("step") end,
  function(i) setmetatable(list, { __len = function() return 2 end, __newindex = rawset }) end,
  function(i) setmetatable(list, nil) end,
}
local log = {}
for round = 1, 6 do
  local s, t = 0, ""
  for i = 1, 45 do
    local x = rec.x
    s = s + x + (list[1] or 0) + (list[i % 4 + 1] or 0) + #list
    call(actions[(i * round) % #actions + 1], i)
    s = s + rec.x * 2 + (rec.y or 10) + #list + (rec.none or 0)
    list[2] = (list[2] or 0) + 1
    rec.x = rec.x + (x == rec.x and 1 or 2)
    t = rec.s .. #t
  end
  log[#log + 1] = string.format("%.6g %s %d", s, t, #list)
end
print(table.concat(log, "; "))
-- Tables that the loop makes itself: what escapes into a call is changed there.
local kept = {}
local function change(t, i)
  t.a = t.a * 2
  t[#t + 1] = i
  if i % 5 == 0 then kept[#kept + 1] = t setmetatable(t, { __index = { c = i } }) end
  if i % 7 == 0 then t.a, t.b = t.b, t.a end
  return t
end
local sum = 0
for i = 1, 60 do
  local t, u = { a = i, b = -i }, { i, i + 1 }
  local alias = { t = t, u = u }
  call(change, t, i)
  u[1] = t.a
  sum = sum + t.a + t.b + #t + alias.t.a + alias.u[1] + (t.c or 0.5)
  call(function() alias.u = nil t = { a = 0, b = 1 } end)
  sum = sum + t.b + (alias.u and 1000 or 0)
end
for k = 1, #kept do sum = sum + kept[k].a + kept[k].c end
print(sum, #kept)
