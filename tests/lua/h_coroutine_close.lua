-- coroutine.close and errors of wrapped coroutines inside of calls from loops; variables are closed in order.
local log = {}
local function closing(name, fails)
  return setmetatable({}, { __close = function(_, e)
    log[#log + 1] = name .. ":" .. (type(e) == "table" and "{" .. e[1] .. "}" or tostring(e))
    if fails then error("in " .. name, 0) end
  end })
end
local function make(i)
  return coroutine.create(function()
    local a <close> = closing("a", i % 4 == 1)
    local s = 0
    for k = 1, 10 do
      local b <close> = closing("b", i % 4 == 2)
      s = s + k
      if k == i % 5 + 2 then coroutine.yield(s) end
      if k == 8 then error("eight", 0) end
      goto next
      ::next::
    end
  end)
end
local function count()
  local n = #log
  local text = table.concat(log, " ", math.max(1, n - 3))
  log = {}
  return n, text
end
for i = 1, 24 do
  local co = make(i)
  local ok, s = coroutine.resume(co)
  local closed, e = coroutine.close(co)
  print(i, ok, s, closed, e, coroutine.status(co), count())
end
-- Errors through wrap close the variables and carry the position of nobody else.
for i = 1, 24 do
  local f = coroutine.wrap(function()
    local a <close> = closing("w", i % 3 == 0)
    for k = 1, 6 do
      if k == i % 6 + 1 then error(i % 2 == 0 and "wrapped" or { k }) end
      if k % 2 == 0 then coroutine.yield(k) end
    end
  end)
  local s = 0
  local ok, e = pcall(function()
    while true do s = s + (f() or 100) end
  end)
  print(i, ok, type(e) == "table" and e[1] or e, s, count())
end
-- Dead, running and normal ones.
local function inside(co)
  local r = {}
  for i = 1, 12 do
    local which = i % 2 == 0 and co or coroutine.running()
    r[i] = tostring(select(2, pcall(coroutine.close, which)))
  end
  return r[1], r[2], r[11], r[12]
end
local outer
outer = coroutine.create(function() return coroutine.wrap(function() return inside(outer) end)() end)
print(coroutine.resume(outer))
for i = 1, 10 do
  local co = coroutine.create(function() return i end)
  local a, b = coroutine.resume(co)
  local c, d = coroutine.resume(co)
  if i > 8 then print(a, b, c, d, coroutine.close(co)) end
end
