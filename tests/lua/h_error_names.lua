-- Messages of errors in instructions that were done by a call before: they name the same variables.
local up, tab = nil, { f = {} }
local file = io.tmpfile()
local mt = { __index = rawget, __add = function() return 1 end, __len = function() return 3 end,
  __concat = function() return "c" end, __lt = function() return true end, __unm = function() return 2 end }
local ud = setmetatable({}, mt)
local kinds = {
  function(x) local r = x:seek() return r end,
  function(x) return x.seek ~= nil end,
  function(x) return x[1] end,
  function(x) local k = "key" return x[k] end,
  function(x) tab.f = x return #tab.f.seek end,
  function(x) up = x return up.write ~= nil end,
  function(x) up = x return up:seek() end,
  function(x) x.field = 1 return x end,
  function(x) x[2] = 1 return x end,
  function(x) return x + 1 end,
  function(x) return 1 - x end,
  function(x) local y = x return y .. "s" end,
  function(x) return -x end,
  function(x) return #x end,
  function(x) return x < x end,
  function(x) return x() end,
  function(x) return tab.f.g(x) end,
  function(x) return x.seek.deep.deeper end,
  function(x) for k in x do return k end end,
  function(x) local c <close> = x return 1 end,
  function(x) return x & 1 end,
  function(x) return x // ud end,
  function(x) global_name = x return global_name.field, global_name:seek() end,
  function(x) return (x.a or x).b.c end,
}
local values = { nil, 1.5, "s", true, ud, file }
local function short(v)
  return type(v) == "string" and v or v == ud and "ud" or v == file and "file" or type(v)
end
for k = 1, #kinds do
  local f = kinds[k]
  for start = 1, 2 do
    local texts, last, n = {}, nil, 0
    for i = 1, 18 do
      local v
      if i <= 8 then v = start == 1 and ud or file elseif i <= 12 then v = nil else v = values[i % 6 + 1] end
      local ok, e = pcall(f, v)
      e = tostring(ok) .. " " .. short(e):gsub("^[^ ]*:%d+: ", "")
      if e ~= last then n = n + 1 texts[n] = e last = e end
    end
    print(k, start, table.concat(texts, "; "))
  end
end
-- The same without pcall between loop and instruction: the error ends the loop.
local function method(n, at)
  local x, s = file, 0
  for i = 1, n do
    if i == at then x = nil end
    s = s + x:seek("set", i)
  end
  return s
end
local function field(n, at)
  local x, s = ud, 0
  for i = 1, n do
    if i == at then x = i end
    s = s + (x.nothing and 1 or 2) + #x
  end
  return s
end
local function operate(n, at)
  local x, s, t = ud, 0, ""
  for i = 1, n do
    if i == at then x = {} end
    s = s + (x + i)
    t = x .. t
    if x < i then s = s - x end
  end
  return s, t
end
for at = 1, 14 do
  print(at, pcall(method, 13, at))
  print(at, pcall(field, 13, at))
  print(at, pcall(operate, 13, at))
end
