-- Calls by baseline code: of library functions that need no frame, met in turn at one place; in tail
-- position; with fewer and with more arguments and results than there are; and fields that nothing in a
-- chain has.

local function each(list, n)
  for i = 1, n do
    for _, f in ipairs(list) do f(i) end
  end
end

-- one call, many functions
local function apply(f, a, b) local r = f(a, b) return r end
local function apply_two(f, a, b) local r, s, t = f(a, b) return r, s, t end
local function apply_all(f, ...) return f(...) end
local function apply_for_nothing(f, a, b) f(a, b) end
local function add(a, b) return a + b end
local callable = setmetatable({}, { __call = function(_, a, b) return a * b, a, b end })
local functions = {
  math.floor, math.ceil, math.abs, math.max, math.min, math.sqrt, add, callable, rawequal, tostring,
  math.type,
  math.floor, type, select, tonumber, assert, string.rep, string.byte, string.char, string.sub, string.len,
  rawlen,
}
local values = { { 7, 2 }, { -3, 3 }, { 2.5, 1 }, { -2.5, 2 }, { "10", 2 }, { 1e300, 1 }, { 0 / 0, 1 },
  { -0.0, 0.0 },
  { math.mininteger, 1 }, { math.maxinteger, 2 }, { 2 ^ 53, 1 }, { -2 ^ 53 - 2, 1 }, { {}, 1 }, { nil, 1 } }
local function show(...)
  local t = table.pack(...)
  for i = 1, t.n do t[i] = type(t[i]) == "table" and "table" or tostring(t[i]):gsub("table: .*", "table") end
  return table.concat(t, " ")
end
local out = {}
for round = 1, 4 do
  for i, f in ipairs(functions) do
    for j, v in ipairs(values) do
      local a = show(pcall(apply, f, v[1], v[2]))
      local b = show(pcall(apply_two, f, v[1], v[2]))
      local c = show(pcall(apply_all, f, v[1], v[2]))
      local d = show(pcall(apply_for_nothing, f, v[1], v[2]))
      if round == 1 or round == 4 then
        out[#out + 1] = i .. "," .. j .. ": " .. table.concat({ a, b, c, d }, " | ")
      end
    end
  end
  if round == 1 then print(table.concat(out, "\n")) out = {} end
end
print(#out, #table.concat(out, "\n"))

-- tail calls
local depth
local function count(n, ...) if n == 0 then return select("#", ...), ... end return count(n - 1, n, ...) end
local function loop(n, a, b, c) if n == 0 then return a, b, c end return loop(n - 1, b, c, n) end
local function less(n, a) if n == 0 then return a end return less(n - 1) end
local function more(n, a) if n == 0 then return a end return more(n - 1, n, "unseen", "too") end
local even, odd
function even(n) if n == 0 then return true end return odd(n - 1) end
function odd(n) if n == 0 then return false end return even(n - 1) end
local function traced(n) if n == 0 then return (debug.traceback("t")) end return traced(n - 1) end
local function fails(n) if n == 0 then error("deep") end return fails(n - 1) end
local function closes(n)
  local up = n
  local function get() return up end
  if n == 0 then return get end
  return closes(n - 1)
end
local function big(n)
  local a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12 = n, n, n, n, n, n, n, n, n, n, n, n
  if n == 0 then return a1 + a12 end
  return loop(2, a1, a2, big and a3)
end
each({
  function(i) depth = count(i % 7) end,
  function(i) assert(loop(i % 9, 1, 2, 3)) end,
}, 40)
print(count(5, "x"), loop(100000, 1, 2, 3))
print(less(5, 1), more(5), even(100001), odd(100001), closes(50)(), big(3), big(0))
print((traced(30):gsub("%d+", "n")))
print(pcall(fails, 30))
print(select(2, pcall(function() return fails(3) end)))
local co = coroutine.wrap(function(n)
  local function step(k) if k == 0 then return "end" end return step(coroutine.yield(k) and k - 1) end
  return step(n)
end)
print(co(3), co(true), co(true), co(true))
local function yields(n) if n == 0 then return coroutine.yield("deep") end return yields(n - 1) end
local back = coroutine.wrap(yields)
print(back(20), back("last"))
for _ = 1, 3 do print(pcall(string.rep, "x", -1), (("x"):rep(3))) end

-- a hook that sees tail calls
local seen = {}
debug.sethook(function(event) seen[event] = (seen[event] or 0) + 1 end, "cr")
loop(10, 1, 2, 3)
debug.sethook()
print(seen["tail call"], seen["return"] ~= nil)

-- fields that nothing has, along chains of tables
local base = setmetatable({ known = 1 }, {})
local middle = setmetatable({ off = false }, { __index = base })
local object = setmetatable({ own = 2 }, { __index = middle })
local dynamic = setmetatable({}, { __index = function(_, k) return k .. "!" end })
local last = setmetatable({}, { __index = dynamic })
local function fields(t) return t.own, t.off, t.known, t.absent, t.another end
for i = 1, 60 do
  local a, b, c, d, e = fields(object)
  local f, g, h, j = fields(last)
  if i % 30 == 0 then print(a, b, c, d, e, f, g, h, j, fields(base)) end
  if i == 40 then base.absent = "now" end
  if i == 50 then getmetatable(base).__index = dynamic end
end
print(fields(object))
local broken = setmetatable({}, { __index = 5 })
print(pcall(fields, broken))
print(pcall(function() local x = setmetatable({}, { __index = false }) return x.y end))
local ring = setmetatable({}, {})
getmetatable(ring).__index = ring
print((select(2, pcall(function() return ring.x end)):gsub("^.-: ", "")))
