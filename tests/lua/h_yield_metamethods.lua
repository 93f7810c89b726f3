-- Yields inside metamethods of all kinds, in loops of a coroutine.
local yield = coroutine.yield
local mt = {}
local function new(v) return setmetatable({ v = v }, mt) end
mt.__index = function(_, k) return yield("index", k) end
mt.__newindex = function(t, k, v) rawset(t, k, yield("newindex", v)) end
mt.__add = function(a, b) return (type(a) == "table" and a.v or a) + yield("add", type(b)) end
mt.__unm = function(a) return -yield("unm", a.v) end
mt.__len = function(a) return yield("len", a.v) end
mt.__lt = function(a, b) return yield("lt", a.v) < b.v end
mt.__le = function(a, b) return yield("le", a.v) <= b.v end
mt.__eq = function(a, b) return yield("eq", a.v) == b.v end
mt.__concat = function(a, b) return yield("concat", type(b)) .. "," end
mt.__call = function(self, x) return yield("call", x), self.v end
local function body(n)
  local a, b = new(1), new(2)
  local s, text = 0, ""
  for i = 1, n do
    s = s + a[i]
    b[i] = s
    s = s + rawget(b, i) + (a + i) + (3 + b)
    s = s + -a + #b
    if a < b then s = s + 1 end
    if a <= b then s = s + 10 end
    if a == b then s = s + 100 end
    if not (b < a) then s = s + 1000 end
    text = (a .. "x") .. ("y" .. b)
    local p, q = a(i)
    s = s + p * q
    a.v = i % 3
  end
  return "end", s, text
end
for round = 1, 3 do
  local co = coroutine.create(body)
  local ok, what, arg = coroutine.resume(co, 25)
  local steps, trail = 0, 0
  while what ~= "end" do
    steps = steps + 1
    trail = (trail * 31 + #what + (type(arg) == "number" and arg or #tostring(arg))) % 1000007
    ok, what, arg = coroutine.resume(co, steps % (3 + round))
    if not ok then break end
  end
  print(round, steps, trail, ok, what, arg)
end
-- Operators on upvalues and constants, results tested by jumps.
local co = coroutine.wrap(function()
  local a, b, hits = new(5), new(6), 0
  for i = 1, 40 do
    while a < b do hits = hits + 1 break end
    local x = a == b and "same" or "other"
    if x == "same" then hits = hits + 100 end
    repeat hits = hits + 1 until not (a <= b)
  end
  return "end", hits
end)
local what, v = co()
local n = 0
while what ~= "end" do
  n = n + 1
  what, v = co(n * 7 % 10)
end
print(n, v)
