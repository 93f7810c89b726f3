-- Declared global variables: read, assigned, defined once only.
global print, pcall, load, setmetatable, _G, assert, tostring, select, rawset
global<const> limit = 300
global counter = 0
global function step(n) counter = counter + n return counter end
for i = 1, limit do step(i) end
print(counter, limit)
print(select(2, load("global<const> x; x = 1", "=t")))
print(select(2, load("global y; z = 1", "=t")))
print(select(2, load("for i = 1, 2 do i = 3 end", "=t")))
print(select(2, load("for k in next, {} do k = 3 end", "=t")))
local function define(n) return load("global made" .. n .. " = " .. n .. " return made" .. n, "=t")() end
local sum = 0
for i = 1, 40 do sum = sum + define(i) end
print(sum, _G.made40)
local again = assert(load("global once = ... return once", "=t"))
for i = 1, 60 do
  local ok, what = pcall(again, i)
  if i < 3 or i == 60 then print(ok, what) end
  if i % 2 == 0 then _G.once = nil end
end
-- One loop that defines a variable each time, and fails at the last.
local loop = assert(load([[
  local clear, n = ...
  for i = 1, n do
    do global fresh = i end
    if i < n - 1 then clear() end
  end
  return 'unreached']], "=t"))
print(pcall(loop, function() _G.fresh = nil end, 200))
