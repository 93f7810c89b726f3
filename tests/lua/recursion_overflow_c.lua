-- Calls through C that nest too deep, with kinds that alternate from level to level: protected calls, gsub,
-- sort, metamethods, coroutines. The depth is the same in each round; what follows is undisturbed.
local deepest, order = 0, {}
local visit

local kinds = {}
function kinds.pcall(n)
  local ok, v = pcall(visit, n + 1)
  if not ok then error(v, 0) end
  return v
end
function kinds.gsub(n)
  local r
  local s = ("ab"):gsub("b", function() r = visit(n + 1) end)
  return r, s
end
function kinds.sort(n)
  local r
  table.sort({ 2, 1 }, function(a, b)
    r = r or visit(n + 1)
    return a < b
  end)
  return r
end
local mt = {}
function mt.__index(t, k) return visit(k) end
function mt.__unm(t) return visit(t.n) end
function mt.__eq(t, u) return visit(rawget(t, "n")) > 0 end
function kinds.index(n) return setmetatable({}, mt)[n + 1] end
function kinds.unm(n) return -setmetatable({ n = n + 1 }, mt) end
function kinds.eq(n) return setmetatable({ n = n + 1 }, mt) == setmetatable({}, mt) and n or -n end
function kinds.wrap(n) return coroutine.wrap(visit)(n + 1) end
function kinds.close(n)
  local r
  do
    local x <close> = setmetatable({}, { __close = function() r = visit(n + 1) end })
  end
  return r
end
function kinds.lua(n) return (visit(n + 1)) end

local limit = 1e9
function visit(n)
  if n > deepest then deepest = n end
  if n >= limit then return n end
  local r = kinds[order[n % #order + 1]](n)
  return r + 1
end

local function run(...)
  order = { ... }
  local line = { table.concat(order, "+") }
  for _, l in ipairs { 3, 20, 45, 1e9, 1e9, 20 } do
    deepest, limit = 0, l
    local ok, e = pcall(visit, 1)
    local text = ok and e or #e .. ":" .. e:gsub("^.*: ", "")
    line[#line + 1] = tostring(ok) .. ":" .. deepest .. ":" .. text
  end
  print(table.concat(line, " "))
end
run("pcall", "lua")
run("gsub", "lua", "lua")
run("sort", "index")
run("index", "unm")
run("unm", "lua", "gsub")
run("eq", "index")
run("wrap", "lua")
run("wrap", "pcall")
run("close", "lua")
run("close", "index", "sort")
run("pcall", "gsub", "sort", "index", "unm", "eq", "wrap", "close", "lua")
-- Many shallow nests afterwards.
local sum = 0
limit, order = 9, { "index", "lua", "gsub", "pcall" }
for i = 1, 60 do
  limit = i % 9 + 1
  sum = (sum * 3 + visit(1)) % 100003
end
print(sum)
