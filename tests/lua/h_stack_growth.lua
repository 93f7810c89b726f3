-- The stack grows and moves during calls, and shrinks in collections: registers of the callers keep.
local function deep(n) if n == 0 then return 0 end return 1 + deep(n - 1) end
local function many(n) return select("#", table.unpack({}, 1, n)) end
local function pass(...) return ... end
local function spread(n) return (select(n, pass(table.unpack(setmetatable({}, { __index = function(_, k)
  return k
end }), 1, n)))) end
local function run(kind, n)
  local a, b, c = 1, "b", { 3 }
  local s = 0
  for i = 1, n do
    local x
    if kind == 1 then x = deep(i * 40)
    elseif kind == 2 then x = many(i * 300)
    elseif kind == 3 then x = spread(i * 30)
    elseif kind == 4 then x = #string.rep("x", i * 100):gsub("()x", "%1")
    elseif kind == 5 then x = deep(i * 30) if i % 4 == 0 then collectgarbage() end
    elseif kind == 6 then x = pcall(deep, i * 50) and 7
    else x = coroutine.wrap(deep)(i * 20) end
    s = s + x + a
    a = a + 1
    b = "b" .. i % 10
    c[1] = c[1] + #b
  end
  return a, b, c[1], s
end
for kind = 1, 7 do print(kind, run(kind, 18)) end
local co = coroutine.wrap(function()
  for kind = 1, 7 do coroutine.yield(run(kind, 12)) end
end)
for kind = 1, 7 do print(kind, co()) end
-- In inlined functions, and with open upvalues, whose registers move with the stack.
local function inner(i, up)
  local v = i
  local function set(x) v = v + x end
  set(1)
  local d = deep(i * 60)
  set(d)
  up(d)
  if i % 5 == 0 then collectgarbage() end
  return v
end
local total, t = 0, 0
for i = 1, 24 do
  total = total + inner(i, function(x) t = t + x end)
end
print(total, t)
