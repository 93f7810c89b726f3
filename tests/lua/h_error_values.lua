-- Errors with any value, at any depth, caught in loops; what was changed before them stays.
local log = {}
local object = setmetatable({}, { __tostring = function() return "object" end })
local values = { "text", 12, 1.5, true, false, object, print, n = 8 }
local state = 0
local function raise(depth, k)
  state = state + 1
  if depth == 0 then error(values[k], k % 3) end
  local r = raise(depth - 1, k)
  state = state - 1000
  return r
end
for i = 1, 40 do
  local k = i % 8 + 1
  local before = state
  local ok, value = pcall(raise, i % 5, k)
  log[#log + 1] = tostring(ok) .. ":" .. (type(value) == "function" and "function" or tostring(value))
      .. ":" .. state - before
end
print(table.concat(log, "\n"))
-- error() and error(nil); rethrown; thrown by an inlined function in an expression.
local function check(x) if x % 3 == 0 then error() elseif x % 3 == 1 then error(nil, 2) end return x end
local function again(x)
  local ok, value = pcall(check, x)
  if not ok then error(value, 0) end
  return value
end
local s = 0
for i = 1, 30 do
  local ok, v = pcall(again, i)
  s = s + (ok and v or 100) + (v == nil and 1000 or 0)
end
print(s)
-- Runtime errors name their variables.
local function names(t, i)
  local field = t.x
  if i % 4 == 0 then return field.y.z end
  if i % 4 == 1 then return field + t end
  if i % 4 == 2 then return t.missing() end
  return #i
end
for i = 1, 16 do print(pcall(names, { x = {} }, i)) end
