-- Loops in functions with variable arguments: the arguments are read below the frame, by number and type.
local function sums(n, ...)
  local s = 0
  for i = 1, n do local a, b = ... s = s + (a or 0) * i + (b or 0) end
  return s, ...
end
print(sums(90)) print(sums(90, 2)) print(sums(90, 2, 3)) print(sums(90, 2.5, 3, 4)) print(sums(90, 1, 2.5)) print(sums(90, "3", 1))
print(sums(90, nil, 4)) print(sums(90, 2, nil)) print(sums(90, 2, 3, nil))
for n = 60, 64 do print(sums(n, n)) print(sums(n, n, n)) print(sums(n)) end
local function counts(...)
  local n = 0
  for i = 1, 80 do n = n + select("#", ...) end
  return n
end
print(counts(), counts(1), counts(1, nil), counts(nil, nil, nil))
local function third(a, b, c) return c or 0.5 end
local function passes(...)
  local s = 0
  for i = 1, 80 do s = s + third(...) end
  return s
end
print(passes(), passes(1), passes(1, 2, 3), passes(1, 2, 3.25, 4), passes(1, 2, 3))
local function lists(...)
  local n = 0
  for i = 1, 80 do local t = { ... } n = n + #t + (t[2] or 0) end
  return n
end
print(lists(), lists(1, 2), lists(1, 2, 3), lists(1, 0.5))
local function objects(...)
  local n = 0
  for i = 1, 80 do local t, key = ... n = n + t[key] t[key] = t[key] + 1 end
  return n
end
print(objects({ x = 1 }, "x"), objects({ y = 1, x = 5 }, "y"), objects({ 4 }, 1))
-- the collector may free what only these registers hold
local function holds(...)
  local n = 0
  for i = 1, 80 do local t = ... n = n + t[1] if i % 20 == 0 then collectgarbage() end end
  return n
end
print(holds({ 3 }), holds({ 4 }, {}))
-- debug.setlocal changes one
local function changed(...)
  local s = 0
  for i = 1, 90 do
    if i == 60 then debug.setlocal(1, -1, 1000) end
    if i == 75 then debug.setlocal(1, -1, "7") end
    local a = ...
    s = s + a
  end
  return s
end
print(changed(1), changed(2, 3))
-- coroutines: each has its own frame
local function walk(...)
  local s = 0
  for i = 1, 60 do local a, b = ... s = s + a + (b or 0) if i % 25 == 0 then coroutine.yield(s) end end
  return s
end
local one, other = coroutine.wrap(walk), coroutine.wrap(walk)
print(one(1), other(2, 3)) print(one(), other()) print(one(), other())
-- deep recursion moves the stack between two runs of the loop
local function deep(n, ...)
  if n > 0 then local r = deep(n - 1, ...) return r end
  return (sums(60, ...))
end
print(deep(1, 1), deep(2000, 2, 3), deep(5, 3))
print(select(2, xpcall(function(...) local s = 0 for i = 1, 90 do local a = ... s = s + a if i == 77 then s = s + nil end end end, debug.traceback, 5, 6)))
