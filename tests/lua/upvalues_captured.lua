-- Loop variables and locals of the loop captured by closures: each iteration has its own.
local fs = {}
for i = 1, 10 do fs[i] = function() i = i + 1; return i end end
local s = 0
for i = 1, 10 do s = s + fs[i]() + fs[i]() end
print(s)
local n = 0
local get = function() return n end
for i = 1, 30 do n = n + i end
print(get())
local function set(v) n = v end
for i = 1, 20 do n = n + 1; if i == 10 then set(1000) end end
print(n, get())
local gs = {}
local k = 0
while k < 5 do
  k = k + 1
  local j = k * 10
  gs[k] = function() j = j + 1; return j + k end
end
for i = 1, 5 do io.write(gs[i](), " ", gs[i](), " ") end
print()
local function make()
  local x = 1
  local function bump(m) for i = 1, m do x = x + i end end
  local function read(m) local t = 0; for i = 1, m do t = t + x end return t end
  return bump, read
end
local bump, read = make()
bump(10)
print(read(10))
bump(10)
print(read(3))
