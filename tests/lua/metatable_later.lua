-- Tables get metatables, and metatables get metamethods, between two runs of a loop that was compiled without them.
local function holes(t, n) local count = 0; for i = 1, n do if t[i] == nil then count = count + 1 end end return count end
local function missing(t, n) local count = 0; for i = 1, n do if t.x == nil then count = count + 1 end end return count end
local function equal(a, b, n) local count = 0; for i = 1, n do if a == b then count = count + 1 end end return count end
local function length(t, n) local sum = 0; for i = 1, n do sum = sum + #t end return sum end
local function fill(t, n) for i = 1, n do t[i] = i end return rawlen(t) end
local function run(t, u)
  print(holes(t, 7), missing(t, 20), equal(t, u, 20), length(t, 10))
end
local function new() return { nil, nil, nil, nil, nil, nil, nil, 8 } end
local t, u = new(), {}
run(t, u)
local mt = {}
setmetatable(t, mt) setmetatable(u, mt)
run(t, u)
mt.__index = function() return 1 end
run(t, u)
mt.__index = nil
run(t, u)
mt.__eq = function() return true end
run(t, u)
mt.__eq = nil
mt.__len = function() return 100 end
run(t, u)
mt.__len = nil
run(t, u)
setmetatable(t, nil)
run(t, u)
print(fill(new(), 8), fill(new(), 8))
local written = 0
local log = { __newindex = function() written = written + 1 end }
print(fill(setmetatable(new(), {}), 8), fill(setmetatable(new(), log), 8), written)
log.__newindex = nil
print(fill(setmetatable(new(), log), 8), written)
log.__newindex = function() written = written + 10 end
print(fill(setmetatable(new(), log), 8), written)
print(equal(t, t, 5), equal(u, t, 5), equal(1, u, 3), equal("a", "a", 4))
-- The same with functions that were compiled when the metatable was there already, without the metamethod.
local function again(f) return load(string.dump(f)) end
local function later(event, handler, f, ...)
  local mt = {}
  local t = setmetatable(new(), mt)
  io.write(event, " ", f(t, ...), " ")
  mt[event] = handler
  io.write(f(t, ...), " ")
  mt[event] = nil
  print(f(t, ...))
end
later("__index", function() return 1 end, again(holes), 7)
later("__index", { x = 1 }, again(missing), 20)
later("__eq", function() return true end, again(equal), setmetatable({}, getmetatable(u)), 20)
later("__len", function() return 3 end, again(length), 10)
