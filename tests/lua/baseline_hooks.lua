-- Hooks that are set while functions with code run: what they see, and when.
local log = { }
local function work (n) local s = 0
  for i = 1, n do
    s = s + i
    if i % 3 == 0 then
      s = s - 1
    end
  end
  return s
end
local function call (f, ...) return f(...) end
local function set (kind, count) debug.sethook(function (event, line)
    log[#log + 1] = event:sub(1, 1) .. (line or "")
  end, kind, count)
end
local function clear () debug.sethook() end
local function inside (kind, count, n)
  local a = work(n)
  set(kind, count)
  local b = work(n)
  clear()
  local c = work(n)
  return a + b + c
end
local function recursive (n, kind)
  if n == 0 then set(kind) return 0 end
  local r = recursive(n - 1, kind) + 1
  return r
end
for round = 1, 25 do
  log = { }
  local r = inside("l", nil, 4) + inside("c", nil, 2) + inside("r", nil, 2) + inside("crl", nil, 2) + inside("", 3, 5)
  r = r + recursive(5, "l") clear() r = r + call(recursive, 4, "crl") clear()
  local t = setmetatable({ }, { __index = function (t, k) set("l") return k end, __add = function (a, b) clear() return b end })
  local function through (x) local v = x[5]
    v = v + 1
    v = x + v
    v = v + 1
    return v
  end
  r = r + through(t)
  local co = coroutine.wrap(function (a)
    for i = 1, 3 do a = coroutine.yield(a + i)
    end
    return a end)
  set("l") r = r + co(1) clear() r = r + co(2) r = r + co(3)
  for k, v in pairs { 1, 2, 3 } do
    if k == 2 then set("lc") end
    r = r + v
  end
  clear()
  if round % 8 == 1 then print(r, #log, table.concat(log, " ")) end
end
-- locals are seen and set from outside
local function victim (n) local a, b = n, n + 1 debug.sethook(function () end, "l") debug.sethook() return a + b end
local function change () debug.setlocal(2, 1, 100) end
local function owner (n) local x = n for i = 1, 3 do change() x = x + 1 end return x end
local function names () local t = { } for i = 1, 9 do local n = debug.getlocal(2, i) t[#t + 1] = n or "-" end return table.concat(t, " ") end
local function named (first, second) local third = first + second local s = names() return s .. third end
local function traced (n) if n == 0 then return (debug.traceback("here"):gsub("%[C%].*", "")) end local r = traced(n - 1) return r end
for i = 1, 30 do
  local a, b, c, d = victim(i), owner(i), named(1, 2), traced(3)
  if i % 14 == 0 then print(a, b, c, d) end
end
