-- Calls give metatables to nil, numbers, booleans and functions, and take them away again, while a loop runs.
local hits = 0
local mt = {
  __index = function(v, k) hits = hits + 1 return type(v) .. tostring(k) end,
  __newindex = function(v, k, x) hits = hits + #type(v) end,
  __call = function(v, x) hits = hits + 1 return x end,
  __add = function(a, b) hits = hits + 1 return 7 end,
  __concat = function(a, b) hits = hits + 1 return "joined" end,
  __len = function(v) hits = hits + 1 return 3 end,
  __unm = function(v) hits = hits + 1 return 4 end,
  __lt = function(a, b) hits = hits + 1 return true end,
}
local values = { 5, true, print, function() return 8 end, 2.5, n = 6 }
local function switch(i, v)
  if i % 8 == 3 then debug.setmetatable(v, mt) elseif i % 8 == 7 then debug.setmetatable(v, nil) end
end
local function use(v)
  local r = 0
  local a = v.field
  r = r + #a
  v.other = r
  if type(v) == "number" then r = r + v else r = r + (v + 1) + -v + #v end
  return r
end
local sum, failed = 0, 0
for k = 1, 6 do
  local v = values[k]
  for i = 1, 32 do
    pcall(switch, i, v)
    local ok, e = pcall(use, v)
    if ok then sum = sum + e else failed = failed + 1 end
  end
  debug.setmetatable(v, nil)
  print(k, sum, failed, hits)
end
-- The same in one function, without pcall around the instructions.
local function run(v, n, at)
  local s = 0
  debug.setmetatable(v, mt)
  for i = 1, n do
    if i == at then debug.setmetatable(v, nil) end
    s = s + #v.name
    s = s + #(v .. i)
  end
  return s
end
for at = 5, 20, 5 do
  for k = 1, 6 do
    print(at, k, pcall(run, values[k], 18, at))
    debug.setmetatable(values[k], nil)
  end
end
-- Functions as environments of methods: 'f:bind(...)' by a metatable of functions.
debug.setmetatable(print, { __index = {
  twice = function(f, x) return f(f(x)) end,
  bind = function(f, x) return function(...) return f(x, ...) end end,
} })
local function inc(x) return x + 1 end
local total = 0
for i = 1, 40 do
  total = total + inc:twice(i) + inc:bind(i)() + math.max:bind(i)(20) + math.floor:twice(i / 2)
end
debug.setmetatable(print, nil)
print(total)
