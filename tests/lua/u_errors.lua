-- Errors and tracebacks out of recursion, at every depth; what was caught goes on.
local function deep(n, limit)
  if n == limit then error("at " .. n) end
  local r = deep(n + 1, limit)
  return r + 1
end
for limit = 1, 60, 3 do
  local ok, message = pcall(deep, 0, limit)
  if limit % 9 == 1 then print(ok, (message:gsub("^.-:", ""))) end
end
local function nil_at(n) if n == 0 then return nil end local v = nil_at(n - 1) return v + 1 end
for n = 1, 40, 13 do print(pcall(nil_at, n)) end
local function lines(n)
  if n == 0 then
    local levels = 0
    while debug.getinfo(levels + 1, "l") do levels = levels + 1 end
    return levels, debug.getinfo(3, "l").currentline, (select(2, debug.traceback("", 1):gsub("\n", "\n")))
  end
  local a, b, c = lines(n - 1)
  return a, b, c
end
for n = 0, 30, 10 do print(n, lines(n)) end
local function caught(n)
  if n == 0 then error({ n = 0 }) end
  local ok, e = pcall(caught, n - 1)
  e.n = e.n + 1
  if n % 3 == 0 then error(e) end
  return e
end
for n = 1, 12 do
  local ok, e = pcall(caught, n)
  print(n, ok, type(e) == "table" and (e.n or e[1]) or e)
end
local depth = 0
local function without_end() depth = depth + 1 return 1 + without_end() end
local ok, message = pcall(without_end)
print(ok, message:match("stack overflow"), depth)
depth = 0
local function by_handler() depth = depth + 1 local r = by_handler() return r end
print(xpcall(by_handler, function(m) return (m:match("stack overflow")) end), depth)
