-- Functions with variable arguments, called in loops: as part of the trace, with any number of them, and left in the middle.
local s = 0
local function first(...) local a = ... return a end
local function two(x, ...) local a, b = ... return x + (a or 0) + (b or 0) end
local function all(...) return ... end
local function pass(...) return two(...) end
local function count(...) return select("#", ...) end
local function default(a, b, ...) return a or 1, b or 2, ... end
for i = 1, 90 do s = s + first(i) end
for i = 1, 90 do s = s + (first(i, "x", nil) or 0) end
for i = 1, 90 do s = s + two(i) + two(i, 1) + two(i, 1, 2) + two(i, 1, 2, 3) end
print(s)
for i = 1, 90 do local a, b, c = all(i, i + 0.5) s = s + a + b if c ~= nil then s = 0 end end
for i = 1, 90 do s = s + pass(i, 2) + pass(i) end
for i = 1, 90 do s = s + count(i, i) + count() end
print(s)
for i = 1, 90 do local a, b, c = default() s = s + a + b + (c or 0) end
for i = 1, 90 do local a, b, c = default(i) s = s + a + b + (c or 0) end
for i = 1, 90 do local a, b, c = default(i, nil, i) s = s + a + b + (c or 0) end
print(s)
-- the values go on into calls, tables, and other frames with variable arguments
local function sum3(a, b, c) return (a or 0) + (b or 0) + (c or 0) end
local function forward(...) return sum3(...) end
local function forward_more(x, ...) local a = sum3(x, ...) return a, ... end
local function nest(...) local a, b = forward_more(1, ...) return a + b end
for i = 1, 90 do s = s + forward(i, 1) + forward(i) + forward(i, 1, 2, 3) + nest(i, 2) end
print(s)
local function packed(...) local t = { ... } return #t, t[1], t[#t] end
for i = 1, 90 do local n, f, l = packed(i, "a", i * 2) s = s + n + f + l end
local function join(sep, ...) local a, b, c = ... return a .. sep .. b .. sep .. tostring(c) end
local length = 0
for i = 1, 90 do length = length + #join("-", i, "x", nil) end
print(s, length)
-- types of the arguments change
for i = 1, 120 do local v = first(i % 4 == 0 and "9" or i % 4 == 1 and i or i % 4 == 2 and i / 2 or "11", 1) s = s + v end
print(s)
-- methods and recursion
local object = { n = 0 }
function object:add(...) local a, b = ... self.n = self.n + a * (b or 1) return self end
for i = 1, 90 do object:add(i):add(i, 2):add(i, 2, 3) end
print(object.n)
local function last(x, ...) if select("#", ...) == 0 then return x end return last(...) end
for i = 1, 60 do s = s + last(i, 1, 2) end
local function tails(n, ...) if n > 0 then return tails(n - 1, ...) end return ... end
for i = 1, 60 do local a, b = tails(2, i, i / 2) s = s + a + b end
print(s)
-- the frame is left in the middle: errors, tracebacks, yields
local function fails(x, ...) local a, b = ... if x > 70 then return a + nil end return a, b end
print(pcall(function() for i = 1, 90 do local a, b = fails(i, i, "b") s = s + a + #b end end))
local function inner(...) local a, b = ... return a + b end
local function outer(x, ...) local v = inner(...) return v + x end
local list = {}
for i = 1, 90 do list[i] = i ~= 80 and i or "eighty" end
print(select(2, xpcall(function() for i = 1, 90 do s = s + outer(1, list[i], 2) end end, debug.traceback)))
local function shows(level, ...)
  local a, b = ...
  if level == 66 then
    print(debug.traceback("here"))
    print(debug.getlocal(1, -1), debug.getlocal(1, -2), debug.getlocal(1, -3), debug.getlocal(1, -4))
    print(debug.getlocal(1, 1), debug.getlocal(1, 2), debug.getinfo(1, "u").isvararg)
  end
  return a + (b or 0), ...
end
for i = 1, 80 do local v, w, x, y = shows(i, i, 2, "c") s = s + v + w + x if y ~= "c" then s = 0 end end
local function yields(n, ...)
  if n % 30 == 29 then coroutine.yield(n, ...) end
  local a, b, c = ...
  return a + b, c
end
local co = coroutine.wrap(function() local t = 0 for i = 1, 100 do local v, w = yields(i, i, 1, "c") t = t + v + #w end return "done", t end)
repeat local what, a, b, c = co() print(what, a, b, c) until what == "done"
-- many of them
local function many(...) local a, b, c, d, e, f, g, h = ... return a + b + c + d + e + f + g + (h or 0) end
for i = 1, 90 do s = s + many(i, 2, 3, 4, 5, 6, 7) + many(i, 2, 3, 4, 5, 6, 7, 8, 9, 10) end
local function hundred(...) return (select("#", ...)) end
local numbers = {}
for i = 1, 100 do numbers[i] = i end
for i = 1, 60 do s = s + hundred(table.unpack(numbers)) end
print(s)
-- a generic loop whose iterator has them
local function step(...) local limit, i = ... if i < limit then return i + 1, ... end end
for i, l, j in step, 80, 0 do s = s + i + l + j end
print(s)
