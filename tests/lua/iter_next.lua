-- Generic loops with next: keys and values of many types, and tables that are changed while they are traversed.
local function total(t)
  local n, s = 0, 0
  for k, v in pairs(t) do n = n + 1 if type(v) == "number" then s = s + v end end
  return n, s
end
local array, strings, floats, booleans, objects = {}, {}, {}, { [true] = 1, [false] = 2 }, {}
for i = 1, 90 do array[i] = i end
for i = 1, 90 do strings["key" .. i] = i end
for i = 1, 90 do floats[i + 0.25] = i end
for i = 1, 50 do objects[{}] = i objects[function() return i end] = 0.5 end
print(total(array)) print(total(strings)) print(total(floats)) print(total(booleans)) print(total(objects))
local s = 0
for k, v in next, array do s = s + k * v end
for k, v in next, array, 40 do s = s + k * v end
for k in pairs(array) do s = s + k end
print(s)
local sparse = {}
for i = 1, 200, 7 do sparse[i] = i end
for i = -100, 0 do sparse[i] = 1 end
print(total(sparse))
local holes = {}
for i = 1, 128 do holes[i] = i end
for i = 1, 128, 3 do holes[i] = nil end
print(total(holes))
local long = {}
for i = 1, 60 do long[("x"):rep(50) .. i] = i end
s = 0
for k, v in pairs(long) do s = s + #k * v end
print(s)
local mixed = {}
for i = 1, 40 do mixed[i] = i mixed["s" .. i] = i / 2 mixed[-i] = "text" mixed[i + 0.5] = true end
local kinds = {}
for k, v in pairs(mixed) do local kind = math.type(k) or type(k) kinds[kind] = (kinds[kind] or 0) + 1 end
print(kinds.integer, kinds.float, kinds.string)
-- functions of C as keys
local functions, named = {}, 0
for name, f in pairs(math) do if type(f) == "function" then functions[f] = name end end
for name, f in pairs(string) do functions[f] = name end
for f, name in pairs(functions) do if f == math[name] or f == string[name] then named = named + 1 end end
print(named > 30, total(functions) == named)
-- assignments to fields that are there, and removals
local t = {}
for i = 1, 100 do t["k" .. i] = i t[i] = i end
for k, v in pairs(t) do t[k] = v * 2 end
print(total(t))
for k, v in pairs(t) do if v % 3 == 0 then t[k] = nil end end
print(total(t))
for k in pairs(t) do t[k] = nil end
print(next(t), total(t))
for i = 1, 100 do t["k" .. i] = { i } end
local n = 0
for k, v in pairs(t) do
  t[k] = nil
  n = n + v[1]
  if n % 5 == 0 then collectgarbage() end
end
print(n, next(t))
-- keys that the collector has marked as dead while the loop stands on them
local objects_too = {}
for i = 1, 60 do objects_too[{ i }] = { i } end
n = 0
for k, v in pairs(objects_too) do objects_too[k] = nil n = n + v[1] if n % 4 == 0 then collectgarbage("step") end end
print(n, next(objects_too))
-- __pairs, breaks, nested loops, small tables many times
local p = setmetatable({}, { __pairs = function(self) return next, array, nil end })
print(total(p))
s = 0
for i = 1, 80 do for k, v in pairs({ i, i + 1, x = 3 }) do s = s + v end end
for k, v in pairs(array) do for kk, vv in pairs(booleans) do s = s + vv end if k == 70 then break end end
print(s)
-- the same loop over array part, then hash part, then other tables
for _, each in ipairs { array, strings, floats, {}, sparse, array } do
  local count, sum = total(each)
  print(count, sum)
end
-- errors: a new key during the traversal is allowed to break it only when the key of the loop is lost
print(pcall(function() for k, v in next, array, "nokey" do end end))
print(pcall(function()
  local z, c = {}, 0
  for i = 1, 60 do z["z" .. i] = i end
  for k, v in next, z do c = c + 1 if c == 50 then error("at " .. (v > 0 and "key" or "")) end end
end))
print(pcall(next, array, 1000))
-- '#' does not depend on a traversal
local border = { n = 1 }
for i = 1, 70 do border[i] = i end
for i = 33, 70 do border[i] = nil end
local before = #border
for k, v in pairs(border) do s = s + v end
print(#border == before, s)
