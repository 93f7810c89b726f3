-- Iterators in iterators, in metamethods, in functions that pcall or string.gsub calls, until C calls nest
-- too deep: at the depth of stock Lua, from wherever code was left on the way.
local deepest, limit
local ways = {}
local function down(n)
  if n > deepest then deepest = n end
  if n >= limit then return 0 end
  return ways[n % #ways + 1](n + 1)
end
-- the call that goes on is on one path of the iterator, and its loop has several iterations
local function step(n, i)
  local s = 0
  for k = 1, 4 do
    if k > i + 1 then break end
    s = s + k
  end
  if i == 2 then s = s + down(n) end
  if i % 2 == 0 then s = s + 1 else s = s - 1 end
  if i < 3 then return i + 1, s end
end
local function walk(n)
  local total = 0
  for i, s in step, n, 0 do
    if s > 3 then total = total + s else total = total - s end
  end
  return total
end
-- an iterator that a tail call has replaced, and one that is a table
local function tail(n, i) if i % 2 == 0 then return step(n, i) end return i + 1, 1 end
local function walk_tail(n) local total = 0 for i, s in tail, n, 1 do total = total + s end return total end
local Callable = {}
Callable.__call = function(self, n, i)
  if i == 0 then return 1, down(n) end
  if i < self.last then return i + 1, i % 2 == 0 and 1 or -1 end
end
local callable = setmetatable({ last = 4 }, Callable)
local function walk_callable(n)
  local total = 0
  for i, s in callable, n, 0 do total = total + s end
  return total
end
-- a metamethod around an iterator
local V = {}
V.__add = function(v, n) return walk(n) end
V.__index = function(v, n) if n % 2 == 0 then return walk_tail(n) end return walk(n) end
local v = setmetatable({}, V)
local function operator(n) return v + n end
local function field(n)
  local r = 0
  for k = 1, 3 do if k == 2 then r = r + v[n] else r = r + 1 end end
  return r
end
local function protected(n)
  local r = 0
  for i, s in branch, 3, 0 do r = r + s end
  local ok, message = pcall(walk, n)
  if not ok then error(message, 0) end
  return message + r
end
function branch(last, i) if i >= last then return nil end if i == 1 then return 2, 5 end return i + 1, 3 end
local function replaced(n)
  local r = 0
  local text = ("abc"):gsub("b", function() for i, s in branch, 3, 0 do r = r + s end return down(n) end)
  return #text + r
end
local sets = {
  { walk }, { walk_tail }, { walk_callable }, { walk, operator }, { field, walk_tail }, { protected },
  { walk, replaced, walk_callable, field }
}
for number, set in ipairs(sets) do
  ways = set
  for _, n in ipairs { 3, 8, 20, 45, 300, 300, 60, 300 } do
    deepest, limit = 0, n
    local ok, result = pcall(down, 0)
    print(number, n, ok, (tostring(result):gsub("^.*:%d+: ", "")), deepest)
  end
end
-- in coroutines the level of whoever resumes counts too
ways = { walk, walk_callable }
for _, n in ipairs { 5, 30, 300, 300 } do
  deepest, limit = 0, n
  local co = coroutine.wrap(function() return pcall(down, 0) end)
  local ok, result = co()
  print(n, ok, (tostring(result):gsub("^.*:%d+: ", "")), deepest)
end
ways = { function(n)
  local r = 0
  for i, s in branch, 4, 0 do
    if i == 3 then r = r + coroutine.wrap(down)(n) else r = r + s end
  end
  return r
end, walk }
for _, n in ipairs { 5, 30, 300, 300 } do
  deepest, limit = 0, n
  local ok, result = pcall(down, 0)
  print(n, ok, (tostring(result):gsub("^.*:%d+: ", "")), deepest)
end
