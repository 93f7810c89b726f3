-- C calls that nest too deep: through pcall, metamethods, gsub, sort, coroutines and tostring, from hot
-- loops.
-- How deep it goes is the same each time, whoever runs the loops.
local depth
local function note(n) if n > depth then depth = n end end
local kinds = {}
local function loop(n)
  note(n)
  local s = 0
  for i = 1, 3 do
    s = s + i
    if i == 2 then s = s + kinds.now(n + 1) end
  end
  return s
end
function kinds.gsub(n) return #(("x"):gsub("x", function() loop(n) return "y" end)) end
function kinds.sort(n) table.sort({ 1, 2 }, function(a, b) loop(n) return a < b end) return 1 end
function kinds.coroutine(n) return coroutine.wrap(loop)(n) end
local mt = {}
mt.__index = function(t, n) return loop(n) end
mt.__add = function(t, n) return loop(n) end
mt.__tostring = function(t) loop(t.n) return "t" end
mt.__call = function(t, n) return loop(n) end
mt.__lt = function(t, u) return loop(rawget(t, "n")) < 0 end
function kinds.index(n) return setmetatable({}, mt)[n] end
function kinds.add(n) return setmetatable({}, mt) + n end
function kinds.format(n) return #("%s"):format(setmetatable({ n = n }, mt)) end
function kinds.less(n) return setmetatable({ n = n }, mt) < setmetatable({ n = n }, mt) and 1 or 0 end
for _, name in ipairs { "gsub", "sort", "coroutine", "index", "add", "format", "less" } do
  kinds.now = kinds[name]
  for round = 1, 3 do
    depth = 0
    local ok, e = pcall(loop, 1)
    print(name, round, ok, depth, (tostring(e):gsub("^.*: ", "")))
  end
end
