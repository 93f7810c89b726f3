-- Errors in functions that were called by tail calls: messages, levels, tracebacks with the mark of lost
-- frames, what debug.getinfo tells, and handlers that look at the stack.
local function fail(n) error("fail " .. n) end
local function fail_at(n, level) error("level " .. level, level) end
local function tail(n) if n == 0 then return fail(n) end return tail(n - 1) end
local function plain(n)
  if n == 0 then
    fail(n)
    return 1
  end
  local r = plain(n - 1)
  return r
end
local function mixed(n)
  if n == 0 then return fail_at(n, 2) end
  if n % 2 == 0 then return mixed(n - 1) end
  local r = mixed(n - 1)
  return r
end
for n = 0, 60, 15 do print(n, pcall(tail, n), pcall(plain, n), pcall(mixed, n)) end
for level = 0, 4 do
  local function last() return fail_at(0, level) end
  local function outer()
    local r = last()
    return r
  end
  print(level, pcall(outer))
end

local function trace(n) return debug.traceback("here", 1) end
local function traced(n)
  if n == 0 then return trace(n) end
  if n % 3 == 0 then
    local s = traced(n - 1)
    return s
  end
  return traced(n - 1)
end
for n = 0, 7 do
  local s
  for i = 1, 12 do s = traced(n) end
  print(n, (s:gsub("\n%s*", " | ")))
end
local ok, s = xpcall(tail, debug.traceback, 3)
print(ok, (s:gsub("\n%s*", " | ")))
ok, s = xpcall(plain, debug.traceback, 3)
print(ok, (s:gsub("\n%s*", " | ")))

local function info(level)
  local i = debug.getinfo(level, "Slnt")
  if not i then return "none" end
  return (i.name or "?") .. ":" .. i.currentline .. ":" .. tostring(i.istailcall) .. ":" .. i.namewhat
end
local function look() return info(2) .. " " .. info(3) .. " " .. info(4) end
local function by_tail() return look() end
local function by_call()
  local s = look()
  return s
end
local function chain(n, f)
  if n == 0 then return f() end
  if n % 2 == 0 then return chain(n - 1, f) end
  local s = chain(n - 1, f)
  return s
end
for n = 0, 8 do
  local a, b
  for i = 1, 15 do a, b = chain(n, by_tail), chain(n, by_call) end
  print(n, a)
  print(n, b)
end

-- A handler that reads a local of the failing function; the callers above are gone.
local function leaf(a, b)
  local c = a + 1
  return a + b
end
local function to_leaf(n, b) if n == 0 then return leaf(n, b) end return to_leaf(n - 1, b) end
for n = 0, 30, 10 do
  print(n, xpcall(to_leaf, function(m)
    local out = {}
    for i = 1, 3 do
      local name, value = debug.getlocal(2, i)
      out[i] = tostring(name) .. "=" .. (type(value) == "table" and "table" or tostring(value))
    end
    return m .. " " .. table.concat(out, " ")
  end, n, {}))
end
-- Endless tail calls, with arguments that become more now and then, until an error ends them.
local steps = 0
local function endless(...)
  steps = steps + 1
  if steps == 5000 then error("stop at " .. select("#", ...), 0) end
  if steps % 500 == 0 then return endless(steps, ...) end
  return endless(...)
end
print(pcall(endless))
print(steps)
