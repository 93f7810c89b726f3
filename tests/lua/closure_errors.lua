-- pcall, xpcall and error with closures: handlers that are closures over variables which the failing function
-- changes, errors that are closures or tables, and variables that keep what they had when the error came.
local function attempt(f, ...)
  local failures = 0
  local ok, v = xpcall(f, function(e)
    failures = failures + 1
    return { message = e, failures = failures }
  end, ...)
  if ok then return v, failures end
  return v.message, v.failures
end
local done = 0
local function work(i)
  done = done + 1
  local x = i
  local f = function() x = x + done return x end
  if i % 10 == 3 then error("three", 0) end
  if i % 10 == 7 then return f() .. nil end
  if i % 10 == 9 then error({ i }) end
  done = done + 1
  return f()
end
local sum, texts, tables = 0, 0, 0
for i = 1, 300 do
  local v, n = attempt(work, i)
  if type(v) == "number" then sum = sum + v
  elseif type(v) == "string" then texts = texts + n
  else tables = tables + v[1] * n end
  if i % 60 == 0 then print(i, done, sum, texts, tables) end
end

-- The variable is changed before, in and after the protected call.
local function protected(n)
  local x = 0
  local log = {}
  for i = 1, n do
    x = x + 1
    local ok, e = pcall(function(k)
      x = x + 10
      if k % 4 == 0 then error(k) end
      x = x + 100
      if k % 6 == 0 then x = x + {} end
      return x
    end, i)
    log[#log + 1] = ok and e or -x
    x = x % 1000
  end
  return x, log[n], #log
end
for n = 1, 121, 24 do print(n, protected(n)) end

-- An error that is a closure tells what it knows when it is called; later too.
local function fails(n)
  local count = n
  local function report() count = count + 1 return "n" .. count end
  if n % 2 == 0 then error(report) end
  count = count * 10
  error(report, 2)
end
local kept = {}
for i = 1, 80 do
  local ok, e = pcall(fails, i)
  kept[#kept + 1] = e
  if i % 20 == 0 then print(i, ok, e(), kept[i // 2]()) end
end

-- Retries with a closure as state; each attempt gets what the last one has left.
local function retry(times, f)
  local last
  for i = 1, times do
    local ok, v = pcall(f, i, last)
    if ok then return v, i end
    last = v
  end
  error("gave up: " .. tostring(last), 0)
end
local function flaky(good)
  local calls = 0
  return function(i, last)
    calls = calls + 1
    if i < good then error((last or 0) + calls, 0) end
    return (last or 0) * 2 + calls
  end
end
for good = 1, 9 do
  for round = 1, 10 do
    local ok, v, n = pcall(retry, 7, flaky(good))
    if round == 10 then print(good, ok, v, n) end
  end
end

-- Handlers that fail, handlers that are not functions, and handlers that return several values.
local depth = 0
print(xpcall(error, function(e)
  depth = depth + 1
  if depth < 4 then error(e .. depth, 0) end
  return e
end, "x"))
print(depth)
print(pcall(xpcall))
print(pcall(xpcall, function() return 1, 2 end, nil))
print(xpcall(error, function(e) return e, "dropped" end, "y"))
print(xpcall(function(...) return select("#", ...), ... end, print, 1, nil, nil))

-- assert with closures and with messages that are made only if they are needed.
local made = 0
local function message() made = made + 1 return "message " .. made end
local function checked(x) return assert(x > 0 and x or nil, x <= 0 and message()) end
local good, bad = 0, 0
for i = -5, 60 do
  local ok, v = pcall(checked, i % 7 - 1)
  if ok then good = good + v else bad = bad + #v end
end
print(good, bad, made)
local E = setmetatable({}, { __call = function(E, t) return setmetatable(t, E) end })
E.__index = E
E.__tostring = function(e) return "E:" .. e.code end
local function throw(code) error(E { code = code }) end
local codes = {}
for i = 1, 60 do
  local ok, e = pcall(function() if i % 3 == 0 then throw(i) end return i end)
  codes[#codes + 1] = ok and e or tostring(e)
end
print(table.concat(codes, " ", 1, 12), codes[60])
