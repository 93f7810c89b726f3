-- Limits other than the stack's that recursion meets: chains of __index, __newindex and __call that are too
-- long or closed to a circle, nested text for the compiler, patterns, closing, and errors in handlers.
local function last(e) return (tostring(e):gsub("\n.*", ""):gsub("^.-:%d+: ", "")) end
local function chain(event, n, stop)
  local t = stop
  for i = 1, n do t = setmetatable({}, { [event] = t }) end
  return t
end
local function read(t, k) return t[k] end
local function write(t, k, v) t[k] = v return "written" end
for _, n in ipairs { 1, 50, 1999, 2000, 2001, 2500 } do
  local bottom = { x = 5 }
  local ok, v
  for round = 1, 3 do ok, v = pcall(read, chain("__index", n, bottom), "x") end
  local ok2, v2 = pcall(write, chain("__newindex", n, bottom), "y", n)
  print(n, ok, last(v), ok2, last(v2), bottom.y)
end
local circle = setmetatable({}, {})
getmetatable(circle).__index = circle
getmetatable(circle).__newindex = circle
for i = 1, 3 do
  print(last(select(2, pcall(read, circle, i))), last(select(2, pcall(write, circle, i, i))))
end

-- A function in the chain: it goes on with another chain, at a depth of C levels.
local deepest = 0
local function fallback(t, k)
  if k > deepest then deepest = k end
  if k == 0 then return 0 end
  return setmetatable({}, { __index = fallback })[k - 1] + 1
end
for _, n in ipairs { 5, 60, 150, 190, 230, 5 } do
  deepest = 0
  local ok, v = pcall(read, setmetatable({}, { __index = fallback }), n)
  print(n, ok, last(v), deepest)
end
local function grows(t, k, v)
  if k == 0 then rawset(t, "end", v) return end
  setmetatable(t, { __newindex = grows })[k - 1] = v + 1
end
for _, n in ipairs { 5, 60, 150, 230, 7 } do
  local t = setmetatable({}, { __newindex = grows })
  local ok, v = pcall(write, t, n, 0)
  print(n, ok, last(v), t["end"])
end

-- Callable tables that are called through callable tables.
local function call(f, ...) return f(...) end
for _, n in ipairs { 1, 3, 10, 40 } do
  local f = chain("__call", n, function(...) return select("#", ...), (select(-1, ...)) end)
  local a, b, c
  for i = 1, 10 do a, b, c = pcall(call, f, i, "last") end
  print(n, a, last(b), c)
end

-- Comparisons and lengths whose metamethods come back to the same operation.
local mt = {}
local function object(n) return setmetatable({ n = n }, mt) end
function mt.__lt(a, b) if a.n == 0 then return true end return object(a.n - 1) < b end
function mt.__le(a, b) if a.n == 0 then return false end return object(a.n - 1) <= b end
function mt.__len(a) if a.n == 0 then return 0.5 end return #object(a.n - 1) + 1 end
function mt.__concat(a, b) if a.n == 0 then return b end return object(a.n - 1) .. b .. a.n % 10 end
function mt.__idiv(a, b) if a.n == 0 then return b end return object(a.n - 1) // (b + 1) end
local operations = {
  function(a) return a < object(0) end, function(a) return a <= object(0) end, function(a) return #a end,
  function(a) return a .. "x" end, function(a) return a // 1 end,
}
for k, f in ipairs(operations) do
  local line = {}
  for _, n in ipairs { 3, 80, 180, 196, 197, 198, 250, 20 } do
    local ok, v = pcall(f, object(n))
    line[#line + 1] = tostring(ok) .. ":" .. (ok and #tostring(v) .. tostring(v):sub(-8) or last(v))
  end
  print(k, table.concat(line, " "))
end

-- Text that is nested too deeply for the compiler, and patterns that are too complex.
local function nested(n) return load("return " .. ("("):rep(n) .. "1" .. (")"):rep(n)) end
for _, n in ipairs { 10, 150, 220 } do
  local f, e = nested(n)
  print(n, f and f(), e and last(e:gsub("near.*", "near")))
end
local function match(n) return (("a"):rep(n)):find(("a?"):rep(n) .. "b") end
local function balanced(n) return (("x"):rep(n)):match((".-"):rep(n) .. "$") end
print(pcall(match, 10))
print(pcall(balanced, 12))
local ok, e = pcall(string.find, ("a"):rep(300000), (".?"):rep(300000))
print(ok, last(e))
-- Handlers that fail again and again.
local tries = 0
local function handler(m) tries = tries + 1 local x = m + {} return x end
for i = 1, 3 do
  tries = 0
  local ok, e = xpcall(error, handler, {})
  print(ok, type(e), tries)
end
