-- setupvalue, upvaluejoin and upvalueid on closures that a loop uses and shares.
local function counter()
  local n = 0
  return function() n = n + 1 return n end, function(v) n = v end
end
local a, seta = counter()
local b, setb = counter()
local log = {}
for i = 1, 40 do
  local x, y = a(), b()
  if i % 9 == 4 then debug.setupvalue(a, 1, y * 10) end
  if i == 15 then debug.upvaluejoin(a, 1, b, 1) end
  if i == 25 then seta(1000) setb(2000) end
  if i == 30 then debug.upvaluejoin(b, 1, seta, 1) end
  log[#log + 1] = x .. "/" .. y .. (debug.upvalueid(a, 1) == debug.upvalueid(b, 1) and "=" or "")
end
print(table.concat(log, " "))
-- Of the loop's own local, by a closure over it; joined in the middle.
for round = 1, 8 do
  local own, other = 0, 100
  local function bump() own = own + 1 end
  local function foreign() other = other + 7 end
  local s = 0
  for i = 1, 12 do
    bump()
    if i == 4 + round % 3 then debug.upvaluejoin(bump, 1, foreign, 1) end
    if i == 9 then debug.setupvalue(foreign, 1, -3) end
    foreign()
    s = s + own * 2 + other
  end
  print(round, own, other, s)
end
-- Each iteration has a variable of its own; identity tells.
local same, kept = 0, {}
for i = 1, 20 do
  local v = i
  local function get() return v end
  local function set(x) v = x end
  if debug.upvalueid(get, 1) == debug.upvalueid(set, 1) then same = same + 1 end
  kept[i] = get
  set(v * 2)
  if i > 1 and debug.upvalueid(kept[i - 1], 1) == debug.upvalueid(get, 1) then same = same - 1000 end
end
for i = 1, 19 do
  if i % 5 == 0 then debug.upvaluejoin(kept[i], 1, kept[i + 1], 1) debug.setupvalue(kept[i], 1, "j" .. i) end
end
for i = 1, 20 do io.write(tostring(kept[i]()), " ") end
print(same)
