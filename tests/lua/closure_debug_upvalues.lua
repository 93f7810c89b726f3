-- debug.getupvalue, setupvalue, upvalueid and upvaluejoin on closures that are called in hot loops, while the
-- frame that made them is alive and after it: values and types change, variables are joined and parted.
local function make(start)
  local n, step = start, 1
  local function up() n = n + step return n end
  local function get() return n end
  return up, get
end
local function index(f, wanted)
  local i = 1
  while true do
    local name = debug.getupvalue(f, i)
    if name == nil then return nil end
    if name == wanted then return i end
    i = i + 1
  end
end
local up, get = make(0)
local n_up, step_up, n_get = index(up, "n"), index(up, "step"), index(get, "n")
print(n_up, step_up, n_get, index(get, "step"))
print(debug.upvalueid(up, n_up) == debug.upvalueid(get, n_get))
print(debug.upvalueid(up, step_up) == debug.upvalueid(up, n_up))
local sum = 0
for i = 1, 600 do
  sum = sum + up()
  if i % 100 == 0 then
    debug.setupvalue(up, step_up, i % 200 == 0 and 0.5 or 2)
    debug.setupvalue(get, n_get, i)
  end
  if i == 350 then debug.setupvalue(up, n_up, "7") end
  sum = sum + get()
  if i % 150 == 0 then print(i, sum, get(), select(2, debug.getupvalue(up, step_up))) end
end

-- Joined to the variable of another closure, and back to its own.
local other, other_get = make(1000)
local keep = function() return n_up, up end
for i = 1, 60 do
  if i % 20 == 1 then debug.upvaluejoin(up, n_up, other, index(other, "n")) end
  if i % 20 == 11 then debug.upvaluejoin(up, n_up, get, n_get) end
  sum = sum + up() + other()
  if i % 10 == 0 then
    local same = debug.upvalueid(up, n_up) == debug.upvalueid(other, 1)
    print(i, sum, get(), other_get(), same, debug.upvalueid(up, n_up) == debug.upvalueid(get, n_get))
  end
end

-- Variables of a frame that still runs: set from a function that it calls.
local function poke(f, name, v)
  local i = index(f, name)
  if i then return debug.setupvalue(f, i, v) end
end
local function frame(n)
  local x, y = 0, 0.5
  local f = function() return x + y end
  local s = 0
  for i = 1, n do
    x = x + 1
    if i % 16 == 0 then poke(f, "x", i * 10) end
    if i % 24 == 0 then poke(f, "y", i % 48 == 0 and "3" or 2) end
    s = s + f() + x
  end
  return s, x, y, f()
end
for n = 10, 90, 20 do print(n, frame(n)) end

-- Variables of loop iterations: each has an identity of its own, and those that are shared have the same.
local fs = {}
for i = 1, 20 do
  local shared = i
  fs[#fs + 1] = function() return shared end
  fs[#fs + 1] = function() shared = shared + 1 return i end
end
local same, different = 0, 0
for a = 1, #fs do
  for b = a + 1, #fs do
    local ia, ib = index(fs[a], "shared"), index(fs[b], "shared")
    local are_same = debug.upvalueid(fs[a], ia) == debug.upvalueid(fs[b], ib)
    if are_same then same = same + 1 else different = different + 1 end
  end
end
print(same, different)
for i = 1, #fs - 2, 2 do
  debug.upvaluejoin(fs[i], index(fs[i], "shared"), fs[i + 3], index(fs[i + 3], "shared"))
end
sum = 0
for round = 1, 20 do
  for _, f in ipairs(fs) do sum = sum + f() end
end
print(sum, fs[1](), fs[37](), fs[39]())
print(pcall(debug.upvaluejoin, fs[1], 9, fs[2], 1))
print(debug.getupvalue(print, 1), debug.setupvalue(fs[1], 5, 0), debug.getupvalue(fs[1], 0))

-- A recursive function whose own variable is set to another function by a debug function.
local function fact(n) if n < 2 then return 1 end return n * fact(n - 1) end
local function replaced(n) return n * 1000 end
for i = 1, 60 do
  local r = fact(i % 15)
  if i == 30 then debug.setupvalue(fact, index(fact, "fact"), replaced) end
  if i % 15 == 9 then print(i, r) end
end
