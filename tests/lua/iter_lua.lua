-- Iterators written in Lua: closures, functions with state, several results, errors, yields, and ends in many ways.
local function range(n) local i = 0 return function() i = i + 1 if i <= n then return i end end end
local s = 0
for i in range(100) do s = s + i end
print(s)
local function count(limit, i) if i < limit then return i + 1, i * i, -i end end
for i, square, minus in count, 90, 0 do s = s + square + minus end
for i in count, 90, 0 do s = s + i end
for i, a, b, c, d in count, 50, 0 do s = s + (c == nil and d == nil and 1 or 0) end
print(s)
-- results that end otherwise: no value, nil, and false does not end it
local function none(t, i) i = i + 1 if t[i] then return i, t[i] end return end
local function null(t, i) i = i + 1 if t[i] then return i, t[i] end return nil, "ignored" end
local t = {}
for i = 1, 80 do t[i] = i / 2 end
for i, v in none, t, 0 do s = s + v end
for i, v in null, t, 0 do s = s + v end
print(s)
local k = 0
local function falses() k = k + 1 if k < 70 then return false, k end end
for f, n in falses do if f == false then s = s + n end end
print(s)
-- an iterator that calls others, and one that makes tail calls
local function half(x) return x / 2 end
local function deep(limit, i) if i < limit then return i + 1, half(i) + half(i + 1) end end
for i, v in deep, 60, 0 do s = s + v end
local function tail(limit, i) if i < limit then return count(limit, i) end end
for i, v in tail, 60, 0 do s = s + v end
print(s)
-- all keys in order
local function sorted(t)
  local keys, i = {}, 0
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys)
  return function() i = i + 1 if keys[i] ~= nil then return keys[i], t[keys[i]] end end
end
local words = {}
for i = 1, 60 do words[string.format("w%03d", i)] = i end
local text = {}
for name, v in sorted(words) do text[#text + 1] = name .. v end
print(#table.concat(text), text[1], text[60])
-- the iterator changes: another function, another type, the loop's own upvalue
local function alternating() local n = 0 return function() n = n + 1 if n > 90 then return nil end if n % 7 == 0 then return n + 0.5 end return n end end
for v in alternating() do s = s + v end
print(s)
local limit = 100
local function upto(_, i) i = i + 1 if i <= limit then return i end end
for i in upto, nil, 0 do if i == 50 then limit = 75 end s = s + i end
print(s, limit)
-- break, nested, and small loops
for i in range(100) do if i > 60 then break end s = s + i end
for i in range(30) do for j in range(i % 4) do s = s + i * j end end
for i = 1, 60 do for j in range(3) do s = s + j end end
print(s)
-- errors inside, with where they happened
local function failing(t, i)
  i = i + 1
  local v = t[i]
  if i > 60 then return i, v + nil end
  return i, v
end
print(pcall(function() for i, v in failing, t, 0 do s = s + v end end))
print(select(2, xpcall(function() for i, v in failing, t, 0 do s = s + v end end, debug.traceback)))
print(select(2, xpcall(function() for i, v in (function(_, i) if i == 70 then error("x") end return i + 1 end), nil, 0 do s = s + i end end, debug.traceback)))
local function where(limit, i)
  if i == 66 then print(debug.traceback("here", 1)) end
  if i < limit then return i + 1 end
end
for i in where, 90, 0 do s = s + i end
-- yields inside the iterator and in the body
local function yielding(limit, i)
  if i % 20 == 19 then coroutine.yield("in iterator", i) end
  if i < limit then return i + 1 end
end
local co = coroutine.wrap(function()
  local sum = 0
  for i in yielding, 80, 0 do sum = sum + i if i % 25 == 0 then coroutine.yield("in body", i) end end
  return "done", sum
end)
repeat local what, n = co() print(what, n) until what == "done"
local gen = coroutine.wrap(function() for i = 1, 70 do coroutine.yield(i, i * 2) end end)
for a, b in gen do s = s + b - a end
print(s)
-- callable tables, and values that are closed
local callable = setmetatable({ n = 0 }, { __call = function(self, state, i) self.n = self.n + 1 if self.n < 60 then return self.n end end })
for i in callable do s = s + i end
print(s)
local closed = 0
local guard = setmetatable({}, { __close = function() closed = closed + 1 end })
for i in count, 60, 0, guard do s = s + i end
for i in count, 60, 0, guard do if i == 40 then break end s = s + i end
print(s, closed, pcall(function() for i in count, 60, 0, guard do if i == 55 then error("out", 0) end end end))
print(closed)
