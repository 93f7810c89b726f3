-- Code is left, and side traces begin, in iterators written in Lua, whose calls C counts: what happens there
-- then (errors, yields, calls of pcall, more iterators) is as if it had never been entered.
local function note(...) print(select("#", ...), ...) end

-- branches of different length, with results of other number and type
local function branchy(limit, i)
  if i >= limit then return end
  if i % 3 == 0 then return i + 1, i end
  if i % 3 == 1 then return i + 1, i * 0.5, "b" end
  if i % 12 == 2 then return i + 1 end
  return i + 1, -i, nil, i
end
local s, names, nils = 0, 0, 0
for i, v, name, last in branchy, 150, 0 do
  s = s + (v or 1000) + (last or 0)
  if name then names = names + 1 end
  if not v then nils = nils + 1 end
end
print(s, names, nils)

-- the body's breaks and jumps, with variables that are closed
local closed = 0
local guard = setmetatable({}, { __close = function() closed = closed + 1 end })
local function count_up(limit)
  local taken = 0
  for i, v in branchy, 90, 0, guard do
    if i == limit then break end
    if v and v < 0 then goto continue end
    taken = taken + i
    ::continue::
  end
  return taken
end
for limit = 80, 96 do s = s + count_up(limit) end
print(s, closed)

-- errors, where they come from, and what was on the way
local function failing(t, i)
  i = i + 1
  local v = t[i]
  if v == nil then return nil end
  if i % 2 == 0 then v = v + 1 end
  if i % 5 == 4 then v = v.x end
  return i, v
end
local function sum(t) local r = 0 for _, v in failing, t, 0 do r = r + v end return r end
local good, bad = {}, {}
local Same = { __add = function(a) return a end }
for i = 1, 40 do good[i] = i % 5 == 4 and setmetatable({ x = i }, Same) or i end
for i = 1, 40 do bad[i] = good[i] end
bad[34] = 3
for n = 1, 12 do
  local t = n % 3 == 0 and bad or good
  note(pcall(sum, t))
  if n % 4 == 2 then bad[24] = false else bad[24] = good[24] end
end
bad[24] = good[24]
print(select(2, xpcall(sum, debug.traceback, bad)))
local function checked(t, i)
  local ok, v = pcall(failing, t, i)
  if not ok then return i + 1, 0 end
  if v == nil then return nil end
  return v, i % 3 == 0 and 1 or 2
end
local oks = 0
for n = 1, 6 do for _, v in checked, n % 2 == 0 and bad or good, 0 do oks = oks + v end end
print(oks)

-- the stack as an iterator sees it
local function watched(limit, i)
  if i >= limit then return nil end
  if i % 4 == 1 then
    local info = debug.getinfo(2, "Sl")
    if i % 16 == 1 then print(info.currentline, debug.getinfo(1, "t").istailcall, debug.traceback("here")) end
  end
  return i + 1
end
for i in watched, 60, 0 do s = s + i end
local function tail(limit, i) if i % 2 == 1 then return watched(limit, i) end return i + 1 end
for i in tail, 60, 0 do s = s + i end
print(s)

-- yields in iterators, in iterators of iterators, and with a pcall between
local function yielding(limit, i)
  if i >= limit then return nil end
  if i % 3 == 1 then s = s + 1 end
  if i % 10 == 7 then s = s + coroutine.yield(i) end
  return i + 1, s
end
local function outer(limit, i)
  if i >= limit then return nil end
  local r = 0
  for j in yielding, i % 3 + 7, i % 2 + 5 do r = r + j end
  if i % 5 == 2 then r = r - select(2, pcall(coroutine.yield, "pcall")) end
  return i + 1, r
end
for round = 1, 3 do
  local co = coroutine.create(function()
    local r = 0
    for i, v in yielding, 60, 0 do r = r + i end
    for i, v in outer, 25, 0 do r = r + v end
    return r
  end)
  local ok, v = coroutine.resume(co)
  local text = {}
  while coroutine.status(co) == "suspended" do
    text[#text + 1] = tostring(v)
    if #text == 8 then print(debug.traceback(co)) end
    ok, v = coroutine.resume(co, #text)
  end
  print(ok, v, s, table.concat(text, " "))
end
local co = coroutine.wrap(function() for i in yielding, 60, 0 do if i > 30 then error("out") end end end)
local last
repeat local ok, v = pcall(co, 1) last = v until not ok
print(last)
local closing = coroutine.create(function() for i in yielding, 60, 0, guard do end end)
for _ = 1, 3 do coroutine.resume(closing, 1) end
print(coroutine.close(closing), coroutine.status(closing), closed)

-- iterators in metamethods in iterators
local M = {}
M.__index = function(t, k)
  local r = 0
  for i, v in branchy, k % 5, 0 do if v then r = r + v else r = r - 1 end end
  return r
end
M.__lt = function(a, b) for i in branchy, 4, 0 do if i > b.n then return true end end return false end
local function mixed(t, i)
  if i >= 60 then return nil end
  if i % 2 == 0 then return i + 1, t[i + 100] end
  if t < { n = i % 5 } then return i + 1, 7 end
  return i + 1, 8
end
local object = setmetatable({ n = 0 }, M)
for n = 1, 4 do for i, v in mixed, object, 0 do s = s + v end end
print(s)

-- hooks that are set in an iterator
local events = {}
local function hooking(limit, i)
  if i % 3 == 0 then s = s + 1 end
  if i == 50 then debug.sethook(function(e, l) events[#events + 1] = e .. (l or "") end, "lr") end
  if i == 52 then debug.sethook() end
  if i < limit then return i + 1 end
end
for n = 1, 2 do for i in hooking, 80, 0 do s = s + i end end
print(s, table.concat(events, " "))
