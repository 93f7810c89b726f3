-- An error that nobody catches, from the middle of a hot loop two calls deep: the message and the traceback are stock Lua's.
local t = {}
for i = 1, 90 do t[i] = i end
t[70] = nil
local function inner(a, i) return a[i] + 1 end
local function outer(a)
  local s = 0
  for i = 1, #a do
    s = s + inner(a, i)
  end
  return s
end
print(pcall(outer, { 1, 2, 3 }))
print((select(2, xpcall(outer, debug.traceback, setmetatable(t, { __len = function() return 90 end }))):gsub("%[C%]: in .-\n", "")))
local function work()
  local s = 0
  for i = 1, 90 do s = s + inner(t, i) end
  return s
end
print("before")
work()
print("never")
