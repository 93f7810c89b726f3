-- Objects that only registers still hold which nobody reads again. In the interpreter they are overwritten or lie above the
-- top; a compiled loop keeps its values elsewhere and must not keep these alive. Each loop ends when its object is gone.
sink = nil

-- The object was the argument of a call, in a register above the loop's.
do
  local name = nil
  setmetatable({}, { __gc = function() name = "gc" end })
  repeat local a = {}; sink = a until name
  print("finalizer", name)
end

-- It was a local variable of a block that has ended, in one of many.
do
  local weak = setmetatable({}, { __mode = "v" })
  do
    local a, b, c, d = 1, 2, 3, 4
    local gone = { a, b, c, d }
    weak[1] = gone
  end
  repeat local a = {}; sink = a until not weak[1]
  print("block", weak[1])
end

-- The loop's body has such a block too: its register is dead at the head, and below live ones of inner loops.
do
  local weak = setmetatable({}, { __mode = "k" })
  local rounds = 0
  repeat
    rounds = rounds + 1
    do
      local first = {}
      if rounds == 5 then weak[first] = true end
      sink = first
    end
    for i = 1, 3 do sink = { i } end
  until rounds > 5 and not next(weak)
  print("inner block", next(weak))
end

-- In a function that the loop calls, also one with variable arguments, and in the frame that calls it.
local function make(...)
  local t = { ... }
  sink = t
  return #t
end
local function waits(...)
  local weak = setmetatable({}, { __mode = "v" })
  do
    local a, b = 1, { ... }
    weak[1] = b
  end
  local n = 0
  repeat n = n + make(1, n) until not weak[1]
  return n > 0, ...
end
print("call", waits())
print("variable arguments", waits("a", "b", nil, "c"))

-- Arguments of an open call.
do
  local weak = setmetatable({ {} }, { __mode = "v" })
  local function pass(...) return ... end
  local n = 0
  repeat
    sink = { pass(n, pass(n + 1)) }
    n = n + 1
  until not weak[1]
  print("open call", weak[1])
end

-- In a coroutine, whose stack is another one.
local co = coroutine.wrap(function(x)
  local name
  setmetatable({}, { __gc = function() name = x end })
  repeat local a = { x }; sink = a until name
  coroutine.yield(name)
  local weak = setmetatable({ {} }, { __mode = "v" })
  for i = 1, math.huge do
    local a = { i }
    sink = a
    if not weak[1] then return "weak" end
  end
end)
print("coroutine", co("first"))
print("coroutine", co())

-- Variables in scope, captured ones and those that are to be closed are alive, whatever the code still reads.
do
  local weak = setmetatable({}, { __mode = "v" })
  local named = {}
  local captured = {}
  weak[1], weak[2] = named, captured
  local function get() return captured end
  local closed = false
  do
    local closing <close> = setmetatable({}, { __close = function() closed = true end })
    weak[3] = closing
    local trigger = setmetatable({ {} }, { __mode = "v" })
    repeat local a = {}; sink = a until not trigger[1]
    print("in scope", weak[1] ~= nil, weak[2] == get(), weak[3] == closing, closed)
  end
  print("closed", closed, rawequal(weak[1], named))
end

-- A generic loop over a table that nobody else holds keeps it.
do
  local weak = setmetatable({}, { __mode = "v" })
  local function fresh()
    local t = {}
    for i = 1, 40 do t[i] = i end
    weak[1] = t
    return t
  end
  local trigger = setmetatable({}, { __mode = "v" })
  local sum, ended = 0, 0
  for _, v in ipairs(fresh()) do
    trigger[1] = {}
    if v == 20 then repeat local a = {}; sink = a; ended = ended + 1 until not trigger[1] end
    sum = sum + v
    if v == 30 then assert(weak[1], "the loop's table is gone") end
  end
  print("generic loop", sum, ended > 0)
end

-- Metamethods that are called by the loop.
do
  local weak = setmetatable({}, { __mode = "v" })
  local V = {}
  V.__index = function(t, k) sink = { k }; return k end
  V.__add = function(a, b) local t = setmetatable({ a[1] + b[1] }, V); sink = t; return t end
  V.__lt = function(a, b) sink = { a }; return a[1] < b[1] end
  V.__concat = function(a, b) sink = {}; return "v" .. (type(a) == "table" and a[1] or a) .. (type(b) == "table" and b[1] or b) end
  weak[1] = {}
  local x, text = setmetatable({ 0 }, V), ""
  repeat
    x = x + setmetatable({ 1 }, V)
    local _ = x < x and x.name
    if x[1] <= 3 then text = text .. ("a" .. x .. "b") end
  until not weak[1] and x[1] > 3
  print("metamethods", text)
end
