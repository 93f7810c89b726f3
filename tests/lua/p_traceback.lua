-- Errors seen from where they happen: lines in messages, levels, tracebacks taken in hot loops, handlers, rethrown objects.
local function at_line(s) return (s:match("^p_traceback.lua:(%d+):")) end
local function check(v)
  if v % 7 == 0 then error("seven") end
  if v % 5 == 0 then error("five", 2) end
  if v % 3 == 0 then error("three", 0) end
  return v
end
local lines, sum = {}, 0
for i = 1, 105 do
  local ok, m = pcall(function()
    local a = check(i)
    local b = check(i + 1)
    return a + b
  end)
  if ok then sum = sum + m
  else
    local key = at_line(m) or m
    lines[key] = (lines[key] or 0) + 1
  end
end
local keys = {}
for k in pairs(lines) do keys[#keys + 1] = k end
table.sort(keys)
for _, k in ipairs(keys) do io.write(k, "=", lines[k], " ") end
print(sum)
local function level3(t, i) return t[i].value end
local function level2(t, i)
  local v = level3(t, i)
  return v + 1
end
local function level1(t, i)
  local s = 0
  for j = 1, i do s = s + level2(t, j) end
  return s
end
local t = {}
for i = 1, 60 do t[i] = { value = i } end
t[40] = false
t[50] = { value = "x" }
print(level1(t, 39))
print(xpcall(level1, debug.traceback, t, 60))
t[40] = { value = 40 }
print(xpcall(level1, function(m) return m .. " | " .. debug.traceback("here", 2) end, t, 60))
local traces, length = 0, nil
for i = 1, 80 do
  local trace = debug.traceback("t" .. i % 2, 1)
  if i == 70 then print(trace) end
  length = length or #trace
  if #trace == length then traces = traces + 1 end
end
print(traces)
local function where()
  local info = debug.getinfo(2, "Slnt")
  return info.currentline, info.name, info.namewhat, info.istailcall
end
local seen = {}
for i = 1, 60 do
  local function named() return (where()), i end
  local function tail() return where() end
  local a = named()
  local b, name, what, is_tail = tail()
  local key = table.concat({ a, b, tostring(name), what, tostring(is_tail) }, " ")
  seen[key] = (seen[key] or 0) + 1
end
for k, n in pairs(seen) do print(k, n) end
local Problem = { __tostring = function(p) return "problem " .. p.depth end }
Problem.__index = Problem
local function dig(depth, limit)
  local ok, e = pcall(function()
    if depth == limit then error(setmetatable({ depth = 0 }, Problem)) end
    return dig(depth + 1, limit)
  end)
  if not ok then
    e.depth = e.depth + 1
    error(e)
  end
  return e
end
local depths = 0
for i = 1, 60 do
  local ok, e = pcall(dig, 1, i % 10 + 1)
  if not ok and getmetatable(e) == Problem then depths = depths + e.depth end
  if i == 33 then print(tostring(e)) end
end
print(depths)
local handled, twice = 0, 0
for i = 1, 70 do
  local ok, m = xpcall(function(v) return #v end, function(m)
    handled = handled + 1
    if i % 10 == 5 then error("in the handler") end
    return type(m)
  end, i % 2 == 0 and "text" or i)
  if not ok and m ~= "string" then twice = twice + 1 end
end
print(handled, twice)
local kinds = {}
local samples = { nil, false, 7, 7.5, "s", print, {} }
for i = 1, 77 do
  local ok, e = pcall(error, samples[i % 7 + 1])
  kinds[type(e)] = (kinds[type(e)] or 0) + (ok and 1000 or 1)
end
for _, k in ipairs { "nil", "boolean", "number", "string", "function", "table" } do io.write(k, "=", kinds[k], " ") end
print()
local function overflow(n) return 1 + overflow(n + 1) end
local ok, m = pcall(overflow, 1)
print(ok, m:match("stack overflow"))
local co = coroutine.create(function()
  for i = 1, 60 do
    if i == 55 then local x = nil + i end
    coroutine.yield(i)
  end
end)
local last, message
repeat
  local ok, v = coroutine.resume(co)
  if ok then last = v else message = v end
until not ok
print(last, message)
print(debug.traceback(co))
print(pcall(assert, false), pcall(assert, nil, "said"), select("#", assert(1, 2, 3)), pcall(assert))
