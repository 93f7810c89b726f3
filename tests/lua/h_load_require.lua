-- load, require, environments and globals with metamethods, all inside of hot loops.
local total = 0
for i = 1, 30 do
  local env = i % 2 == 0 and { x = i } or _ENV
  local f = load("local a = ... x = (x or 0) + a return x, _ENV", "=c" .. i % 3, "t", env)
  local v
  v, env = f(i)
  total = total + v + (env == _G and 1 or 0)
end
print(total, x)
local loads = 0
for i = 1, 12 do
  local name = "module" .. i % 5
  package.preload[name] = package.preload[name] or function(n, extra)
    loads = loads + 1
    local m = { name = n, extra = extra }
    for k = 1, 10 do m[k] = k * loads end
    return m
  end
  total = total + require(name)[3] + #require(name).name
  if i % 4 == 0 then package.loaded[name] = nil end
end
print(total, loads, (select(2, require("module1"))))
local failed
for i = 1, 8 do
  local ok, e = pcall(require, "missing.module" .. i % 2)
  failed = not ok and e:match("^[^\n]*")
end
print(failed)
-- Pieces from a function; syntax errors; chunks that are dumped and loaded.
for i = 1, 15 do
  local n = 0
  local f, e = load(function()
    n = n + 1
    if n <= i then return "x = x + " .. n .. " " elseif i % 5 == 0 and n == i + 1 then return "oops" end
  end, "=pieces")
  if f then f() elseif i > 10 then print(e) end
end
print(x)
for i = 1, 10 do
  local k = 10
  local f = load(string.dump(function(a) local s = 0 for j = 1, a do s = s + j * (k or 2) end return s end))
  debug.setupvalue(f, 1, i)
  total = total + f(i + 5)
end
print(total)
-- Globals through a metatable of the environment, which a call installs and takes away.
local reads, writes = 0, 0
local function strict(on)
  setmetatable(_G, on and {
    __index = function(_, k) reads = reads + 1 return #k end,
    __newindex = function(t, k, v) writes = writes + 1 rawset(t, k, v) end,
  } or nil)
end
local s = 0
for i = 1, 40 do
  if i % 10 == 5 then strict(i % 20 == 5) end
  s = s + (undefined or 1000)
  if i % 7 == 0 then defined, undefined2 = i, nil end
  s = s + (defined or 0)
  if i % 8 == 0 then defined = nil end
end
strict(false)
print(s, reads, writes)
local function sandbox(n)
  local _ENV <const> = setmetatable({ out = 0 }, { __index = function(t, k)
    return function(v) t.out = t.out + v end
  end })
  for i = 1, n do call(i) other(out % 3) end
  return out
end
for i = 1, 10 do total = total + sandbox(i * 3) end
print(total)
