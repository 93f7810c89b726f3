-- Recursion through metamethods, iterators and C functions that loops have made hot, down to where C calls
-- are too many; and back again.
local deepest
local mt = {}
local function new(n) return setmetatable({ n = n }, mt) end
local limit
local function visit(n)
  if n > deepest then deepest = n end
  if n >= limit then return 1 end
end
mt.__index = function(t, k) local n = t.n or 0 return visit(k) or new(n)[k + 1] + 1 end
mt.__add = function(t, k) return visit(k) or (new(k) + (k + 1)) % 1009 + 1 end
mt.__concat = function(t, k) return visit(k) or new(k) .. (k + 1) end
mt.__len = function(t) return visit(t.n) or #new(t.n + 1) + 2 end
mt.__lt = function(t, u) return visit(t.n) == 1 or new(t.n + 1) < u end
mt.__call = function(t, k) return visit(k) or new(k)(k + 1) + 1 end
mt.__newindex = function(t, k, v) if not visit(k) then new(k)[k + 1] = v end end
local plain = {}
local function step(n, i)
  if i > 0 then return end
  return 1, visit(n) or plain.iterate(n + 1)
end
function plain.iterate(n)
  local s = 0
  for _, v in step, n, 0 do s = s + v end
  return s + 1
end
function plain.index(n) return setmetatable({ n = 0 }, mt)[n] end
mt.__index = function(t, k)
  if type(k) == "string" then return rawget(t, k) end
  return visit(k) or new(k)[k + 1] + 1
end
local kinds = {
  function() return new(1)[1] end,
  function() return new(1) + 1 end,
  function() return #tostring(new(1) .. 1) end,
  function() return #new(1) end,
  function() return new(1) < new(2) and 1 or 0 end,
  function() return new(1)(1) end,
  function() new(1)[1] = 5 return 1 end,
  function() return plain.iterate(1) end,
}
for k = 1, #kinds do
  local s = 0
  deepest = 0
  for i = 1, 30 do
    limit = i * 3 % 90 + 1
    s = (s * 3 + kinds[k]()) % 100003
  end
  local line = { k, s, deepest }
  for _, l in ipairs { 150, 165, 180, 185, 1e9, 1e9 } do
    limit, deepest = l, 0
    local ok, e = pcall(kinds[k])
    line[#line + 1] = tostring(ok) .. ":" .. (ok and e or e:gsub("^.*: ", "")) .. ":" .. deepest
    limit = 12
    line[#line + 1] = kinds[k]()
    if k == 6 and l == 185 then break end  -- the next ones would fill the stack of Lua functions
  end
  print(table.concat(line, " "))
end
