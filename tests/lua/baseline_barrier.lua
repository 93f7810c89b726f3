-- Old tables, and variables of old closures, get new objects from baseline code by every kind of store; collections in between.
local function new(i) return { i } end
local holder = { f = 1, [1] = 1, [2] = 1, name = 1 }
global = { v = 1 }
local kept
local function keep(v) kept = v end
local function set_field(t, v) t.f = v end
local function set_item(t, i, v) t[i] = v end
local function set_first(t, v) t[1] = v end
local function set_key(t, k, v) t[k] = v end
local function set_global(v) global = v end
local function add(t, v) t[#t + 1] = v end
local function list(v) return { v, v, x = v } end
local function check(i)
  local a, b, c, d, e, f = holder.f, holder[1], holder[2], holder.name, kept, global
  return a[1] == i and b[1] == i + 1 and c[1] == i + 2 and d[1] == i + 3 and e[1] == i + 4 and f[1] == i + 5
end
local bad = 0
for _, mode in ipairs { "generational", "incremental" } do
  collectgarbage(mode)
  local grown = { }
  for i = 1, 300 do
    set_field(holder, new(i))
    set_first(holder, new(i + 1))
    set_item(holder, 2, new(i + 2))
    set_key(holder, "name", new(i + 3))
    keep(new(i + 4))
    set_global(new(i + 5))
    add(grown, new(i))
    if i % 3 == 0 then collectgarbage("step", 0) end
    if i % 7 == 0 then collectgarbage("step", 100) end
    if i % 50 == 0 then collectgarbage() end
    local garbage = { }
    for j = 1, 30 do garbage[j] = new(-j) end
    if not check(i) then bad = bad + 1 end
    local l = list(garbage[1])
    if l[2][1] ~= -1 or l.x ~= l[1] then bad = bad + 1 end
  end
  for i = 1, #grown do if grown[i][1] ~= i then bad = bad + 1 end end
end
print(bad)
