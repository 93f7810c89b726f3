-- Message handlers: tracebacks, errors in the handler itself, handlers that run loops.
local function clean(text)
  return (tostring(text):gsub("\n%s*%[C%]: in %?", ""):gsub("\n%s*", " | "))
end
local function fail(n, what)
  local s = 0
  for i = 1, 4 do
    s = s + i
    if i == n then error(what .. s) end
  end
  return s
end
local function around(n, what) local r = fail(n, what) return r + 1 end
for i = 1, 12 do
  local ok, text = xpcall(around, debug.traceback, i % 6, "t")
  print(i, ok, clean(text))
end
local depth = 0
local function bad(message)
  depth = depth + 1
  if depth < 5 then error("again" .. depth) end
  return message .. "!" .. depth
end
for i = 1, 10 do
  depth = 0
  print(i, xpcall(around, bad, i % 5, "b"))
end
local function busy(message)
  local s = 0
  for i = 1, 20 do s = s + i * #message end
  return { message = message, s = s }
end
for i = 1, 10 do
  local ok, e = xpcall(around, busy, 1 + i % 4, "c")
  print(i, ok, e.s, e.message)
end
-- A handler that always fails: the error is in error handling at last.
for i = 1, 6 do
  local ok, e = xpcall(around, function(m) error(m, 0) end, 2, "d")
  print(i, ok, type(e), #tostring(e) < 200)
end
-- Handler that looks at the locals of the function that failed.
for i = 1, 10 do
  local ok, seen = xpcall(around, function()
    local names = {}
    for n = 1, 10 do
      local name, value = debug.getlocal(3, n)
      if not name then break end
      if name:sub(1, 1) ~= "(" then names[#names + 1] = name .. "=" .. tostring(value) end
    end
    return table.concat(names, " ")
  end, 1 + i % 4, "e")
  print(i, ok, seen)
end
