-- Functions that are freed while they are on the stack, or while a recording of theirs waits.
local chunk
local function source(i, body)
  return "local i, f = " .. i .. ", ... local s = 0 for k = 1, 12 do s = s + k * i " .. body
    .. " end return s"
end
local function drop() chunk = nil collectgarbage() return 1 end
local total = 0
for i = 1, 12 do
  chunk = load(source(i, "if k == 4 then s = s + f() end"))
  total = total + chunk(drop)
end
print(total)
-- The loop's own function is dropped; its closures live on, or do not.
local fs = {}
for i = 1, 12 do
  local make = load("local s, list = 0, {} for k = 1, 15 do local v = k list[k] = function() v = v + 1 "
    .. "s = s + v return s end if k == 9 then collectgarbage() end list[k]() end return list[" .. i .. "], s")
  local f, s = make()
  make = nil
  if i % 2 == 0 then collectgarbage() end
  fs[i] = f
  total = total + s
end
for round = 1, 3 do for i = 1, #fs do total = total + fs[i]() end end
print(total)
-- A coroutine whose function nobody else holds, suspended in its hot loop, then dropped there.
local sum = 0
for i = 1, 16 do
  local co = coroutine.wrap(load("for k = 1, 30 do coroutine.yield(k * " .. i .. ") end"))
  for k = 1, 6 + i do sum = sum + co() end
  co = nil
  collectgarbage()
end
print(sum)
-- A metamethod that replaces itself, an iterator that drops itself, a comparator from a chunk.
local mt = {}
local t = setmetatable({}, mt)
local versions = 0
local function install()
  versions = versions + 1
  mt.__index = load("local install, v = ... return function(t, k) if k % 5 == 0 then install() "
    .. "collectgarbage() end return k + v end")(install, versions)
end
install()
local x = 0
for i = 1, 40 do x = x + t[i] end
print(x, versions)
for i = 1, 8 do
  local list = { 5, 3, 8, 1, 9, 2 }
  table.sort(list, load("local a, b = ... collectgarbage('step') return a < b"))
  x = x + list[1] * i
  for k in load("local n = 0 return function() n = n + 1 if n < 9 then return n end end")() do
    if k == 3 then collectgarbage() end
    x = x + k
  end
end
print(x)
