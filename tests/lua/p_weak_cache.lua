-- Weak tables and finalizers in programs: a cache of results, private data by object, an ephemeron, objects that count ends.
local cache, made = setmetatable({}, { __mode = "v" }), 0
local function point(x, y)
  local key = x .. "," .. y
  local p = cache[key]
  if not p then
    made = made + 1
    p = { x = x, y = y }
    cache[key] = p
  end
  return p
end
local kept, sum = {}, 0
for i = 1, 120 do
  local p = point(i % 8, i % 3)
  kept[i % 24 + 1] = p
  sum = sum + p.x * 10 + p.y
end
print(sum, made, point(0, 0) == point(0, 0), point(1, 2) == kept[1 + 17 % 24])
for i = 1, 24 do if i % 2 == 0 then kept[i] = nil end end
local function forget() for i = 1, 24 do kept[i] = nil end end
local function alive(t)
  collectgarbage()
  local n = 0
  for _ in pairs(t) do n = n + 1 end
  return n
end
forget()
print(alive(cache) == 0)
local private = setmetatable({}, { __mode = "k" })
local Counter = { __index = {} }
function Counter.__index:add(n) private[self].value = private[self].value + n return self end
function Counter.__index:get() return private[self].value end
local function counter() local c = setmetatable({}, Counter) private[c] = { value = 0, owner = c } return c end
local counters = {}
for i = 1, 20 do counters[i] = counter() end
for i = 1, 150 do counters[i % 20 + 1]:add(i):add(-1) end
local total = 0
for i = 1, 20 do total = total + counters[i]:get() end
print(total, alive(private))
for i = 6, 20 do counters[i] = nil end
print(alive(private), counters[3]:get())
local ended = {}
local function temporary(name) return setmetatable({ name = name }, { __gc = function(o) ended[#ended + 1] = o.name end }) end
local function churn(n)
  local last
  for i = 1, n do
    local t = temporary(i)
    if i % 10 == 0 then last = t end
  end
  return last.name
end
print(churn(60))
collectgarbage()
collectgarbage()
table.sort(ended)
print(#ended, ended[1], ended[60])
local again = 0
local phoenix = {}
local function rise() return setmetatable({ life = 0 }, { __gc = function(o)
  o.life = o.life + 1
  again = again + 1
  if o.life < 3 then
    phoenix[#phoenix + 1] = o
    setmetatable(o, getmetatable(o))
  end
end }) end
do
  local function start() for _ = 1, 20 do rise() end end
  start()
end
for _ = 1, 4 do
  collectgarbage()
  local now = phoenix
  phoenix = {}
  now = nil
  collectgarbage()
end
print(again)
local strings, both = setmetatable({}, { __mode = "kv" }), setmetatable({}, { __mode = "kv" })
for i = 1, 60 do
  strings["key" .. i] = "value" .. i
  both[i] = {}
end
print(alive(strings), alive(both))
local memo, calls = setmetatable({}, { __mode = "k" }), 0
local function area(shape)
  local v = memo[shape]
  if v == nil then
    calls = calls + 1
    v = shape.w * shape.h
    memo[shape] = v
  end
  return v
end
local shapes, a = {}, 0
for i = 1, 10 do shapes[i] = { w = i, h = i + 1 } end
for i = 1, 100 do a = a + area(shapes[i % 10 + 1]) end
for i = 1, 30 do a = a + area { w = i, h = 1 } end
print(a, calls, alive(memo))
