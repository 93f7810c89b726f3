-- Returns and tail calls of all shapes: open lists, variable arguments, variables that are captured or to be
-- closed, callers that want fewer values, more, or all; from Lua and from C.
local log = {}
local function note(...) log[#log + 1] = table.concat({ select("#", ...), ... }, " ") end

local function three() return 1, 2, 3 end
local function none() end
local function open(a) return a, three() end
local function only_open() return three() end
local function nothing_open() return none() end
local function extra(a, ...) return a, ... end
local function extra_fixed(...) local n = select("#", ...) return n, "fixed" end
local function extra_none(...) return end
local function extra_one(...) return (...) end
local function looping(t) for _, v in ipairs(t) do if v == 3 then return v, "found" end end return nil end
local function looping_open(t) for k in pairs(t) do return k, three() end return three() end
local function capturing(n) local x = n local f = function() x = x + 1 return x end return f(), x, f end
local function capturing_open(n) local x = n return three(), (function() x = x + 1 return x end)() end
local function closing(n)
  local c <close> = setmetatable({}, { __close = function(_, e) note("close", n, tostring(e)) end })
  return n, n + 1
end
local function closing_open(n)
  local c <close> = setmetatable({}, { __close = function() note("closed", n) end })
  return three()
end
local function extra_closing(...)
  local c <close> = setmetatable({}, { __close = function() note("extra closed") end })
  return ..., "end"
end

local functions = { three, none, open, only_open, nothing_open, extra, extra_fixed, extra_none, extra_one,
  function(a) return looping({ a, 3, 4 }) end, function(a) return looping_open({ a }) end,
  capturing, capturing_open, closing, closing_open, extra_closing }

local function show(v) return type(v) == "function" and "f" or tostring(v) end
local function wants(f, n)
  f(n)
  local a = f(n)
  local b, c = f(n)
  local d, e, g, h, i, j = f(n)
  local t = { f(n) }
  local u = { f(n), f(n) }
  local text = {}
  for k, v in ipairs({ show(a), show(b), show(c), show(d), show(e), show(g), show(h), show(i), show(j) }) do
    text[k] = v
  end
  return table.concat(text, ","), #t, #u, select("#", f(n)), select("#", f(n), (f(n)))
end

for round = 1, 40 do
  for k, f in ipairs(functions) do
    local line = table.concat({ k, wants(f, round) }, " ")
    if round % 13 == 1 then print(line) end
    -- from C, with all results, some and none
    if round % 20 == 1 then print(k, select("#", pcall(f, round)), (select(2, pcall(f, round)) ~= nil)) end
  end
  if round == 1 then for _, line in ipairs(log) do print(line) end end
  log = {}
end

-- Tail calls: of C functions with one result, none, several; with variables to be closed; of Lua functions.
local setmetatable, tostring, type, select, max, byte = setmetatable, tostring, type, select, math.max,
  string.byte
local meta = { __index = function(_, k) return k .. "!" end }
local function made(t) return setmetatable(t, meta) end
local function kind(v) return type(v) end
local function largest(...) return max(...) end
local function first(s) return byte(s) end
local function beyond(s) return byte(s, 99) end
local function bytes(s) return byte(s, 1, -1) end
local function from_loop(t) for _, v in ipairs(t) do if v then return type(v) end end return select("#") end
local function from_loop_lua(t) for _, v in ipairs(t) do if v > 1 then return three() end end return none() end
local function captured(n) local x = n local f = function() return x end return type(f) end
local function captured_lua(n) local x = n local f = function() return x end return f() end
local function failing(n) return setmetatable(n, meta) end
local function many(n) if n == 0 then return "end" end return many(n - 1) end
local function many_looping(n)
  for _ in ipairs({ 1 }) do if n == 0 then return "over" end return many_looping(n - 1) end end

for round = 1, 60 do
  local t = made({ 5 })
  local words = { t.x, t[1], kind(t), kind(nil), kind(), largest(1, 2.5, 2) or "", first("az"),
    tostring((beyond("az"))), select("#", beyond("az")), select("#", bytes("hello")), (bytes("hello")),
    from_loop({ false, 1 }), from_loop({}), select("#", from_loop_lua({ 1, 2 })), select("#",
      from_loop_lua({})),
    captured(1), captured_lua(7), many(300), many_looping(200) }
  if round % 29 == 1 then print(table.concat(words, " ")) end
  local ok, message = pcall(failing, round)
  if round % 29 == 1 then print(ok, message) end
end

-- A result that nobody wants, and results after a stack that has grown.
local function deep(n, ...) if n == 0 then return ... end return deep(n - 1, n, ...) end
for n = 1, 200, 37 do print(select("#", deep(n)), (deep(n))) end
local function sum(...) local s = 0 for k = 1, select("#", ...) do s = s + (select(k, ...)) end return s end
for n = 1, 60 do if n % 20 == 0 then print(sum(deep(n)), sum(table.unpack({ deep(n) }))) end end

-- Coroutines and errors through these returns.
local co = coroutine.wrap(function(...)
  local function gives(...) for _, v in ipairs({ ... }) do coroutine.yield(v, extra(v,
    v)) end return open(7) end
  return gives(...)
end)
for _ = 1, 4 do print(co(1, 2, 3)) end
print(pcall(function(...) for _ in ipairs({ 1 }) do return error("out of a loop", 0) end end))
