-- Calls, returns and tail calls of every form between functions that have code of their own.
local function none () end
local function one (a) return a end
local function two (a, b) return b, a end
local function many (...) return ... end
local function count (...) return select("#", ...) end
local function pass (f, ...) return f(...) end
local function open (f, g, a) return f(g(a, a), g(a, a)) end
local function fixed (f, a) local x, y, z = f(a) return x, y, z end
local function drop (f, a) f(a) f(a, a) return a end
local function paren (f, a, b) return (f(a, b)) end
local function missing (a, b, c, d, e) return e == nil and d == nil and c end
local function loop (n, acc) if n == 0 then return acc end return loop(n - 1, acc + n) end
local even, odd
function even (n) if n == 0 then return true end return odd(n - 1) end
function odd (n) if n == 0 then return false end return even(n - 1) end
local function depth (n) if n == 0 then return 0 end return 1 + depth(n - 1) end
local function wide (n) local a, b, c, d, e, f, g = n, n, n, n, n, n, n if n == 0 then return 0 end return wide(n - 1) + a - g + 1 end
local function vararg (n, ...) if n == 0 then return count(...) end return vararg(n - 1, n, ...) end
local function captured (n)
  local list = { }
  for i = 1, n do local x = i list[i] = function (d) x = x + d return x end end
  local s = 0
  for i = 1, n do s = s + list[i](i) + list[i](1) end
  return s
end
local function counter () local n = 0 return function () n = n + 1 return n end, function () return n end end
local function close (n, out)
  local a <close> = setmetatable({ }, { __close = function () out[#out + 1] = n end })
  if n > 0 then close(n - 1, out) end
  return n, #out
end
local object = setmetatable({ v = 1 }, { __index = { get = function (self, d) return self.v + (d or 0) end } })
local callable = setmetatable({ }, { __call = function (self, a, b) return b, a, self ~= nil end })
local class = { } class.__index = class
function class.new (n) return setmetatable({ n = n }, class) end
function class:add (m) self.n = self.n + m return self end
local derived = setmetatable({ }, { __index = class }) derived.__index = derived
local function methods (n)
  local a, b = class.new(n), setmetatable({ n = n }, derived)
  for i = 1, 3 do a:add(i):add(1) b:add(i) end
  return a.n, b.n
end
for round = 1, 60 do
  local up, now = counter()
  for i = 1, round do up() end
  local out = { }
  local r = table.pack(
    none(), (none()), one(), one(1, 2), two(1, 2), many(), count(many(1, nil, nil)), pass(count), pass(count, nil),
    pass(pass, pass, two, 1, 2), open(count, many, 1), open(count, two, 1), fixed(none, 1), fixed(many, 1),
    drop(none, 4), paren(many, 5, 6), missing(1, 2, 3), loop(50, 0), tostring(even(31)), tostring(odd(31)), depth(30),
    wide(30), vararg(12), captured(5), now(), close(3, out), table.concat(out, ","), object:get(), object:get(3),
    callable(1, 2), pass(callable, 3, 4), methods(round), math.max(1, 2.5), (("x"):rep(3)))
  local s = { }
  for i = 1, r.n do s[i] = tostring(r[i]) end
  if round % 20 == 0 then print(r.n, table.concat(s, " ")) end
end
for i = 1, 25 do
  local ok, message = pcall(function (x) local y = x.a.b return y end, { })
  local ok2, message2 = pcall(function (x) return x() + 1 end)
  local ok3, message3 = pcall(function (x) undefined_function(x) end)
  local ok4, message4 = pcall(function (x) return x < { } end, 1)
  local ok5, message5 = pcall(function (x) return #x end)
  local ok6, message6 = pcall(function (x) return x.name:method() end, { name = { } })
  if i % 12 == 0 then print(message, message2, message3, message4, message5, message6) end
end
-- the stack grows under frames that have code, and shrinks again; and the C stack overflows as it does without
do
  print(depth(30000), wide(3000), vararg(200))
  collectgarbage()
  local t = setmetatable({ }, { __index = function (t, k) return t[k + 1] end })
  local ok, message = pcall(function () return t[1] end)
  print(ok, (tostring(message):gsub("^.-:%d+: ", "")))
end
