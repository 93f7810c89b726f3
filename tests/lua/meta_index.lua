-- Fields that are not there: __index and __newindex as functions, tables and chains of both.
local s = 0
local squares = setmetatable({}, { __index = function(t, k) return k * k end })
for i = 1, 90 do s = s + squares[i] + squares[-i] + squares[1] end
for i = 1, 90 do s = s + squares[i + 0.5] + squares[1] end
local names = setmetatable({}, { __index = function(t, k) return #k end })
for i = 1, 90 do s = s + names.abc + names["x" .. i] end
print(s)
-- results are kept by the metamethod
local made = 0
local cache = setmetatable({}, { __index = function(t, k) made = made + 1 local v = k * 2 rawset(t, k, v) return v end })
for i = 1, 200 do s = s + cache[i % 60] end
print(s, made)
-- methods found by a function
local class = { twice = function(self) return self.n * 2 end, n = 4 }
local object = setmetatable({ n = 3 }, { __index = function(t, k) return class[k] end })
for i = 1, 90 do s = s + object:twice() + object.n end
print(s)
-- chains: table, table, function; arrays behind tables
local base = setmetatable({ 10, 20, 30, name = "base" }, { __index = function(t, k) return k == "last" and 7 or nil end })
local middle = setmetatable({ [2] = 200 }, { __index = base })
local top = setmetatable({}, { __index = middle })
for i = 1, 90 do s = s + top[1] + top[2] + top[3] + #top.name + top.last + (top.none or 1) + (top[i + 3] or 0) + top[i % 3 + 1] end
print(s)
local defaults = setmetatable({}, { __index = { x = 1, y = 2.5 } })
for i = 1, 90 do local key = i % 2 == 0 and "x" or "y" s = s + defaults[key] if i == 60 then defaults.x = 10 end end
print(s)
-- absent and present alternate
local half = setmetatable({}, { __index = function(t, k) return -1 end })
for i = 1, 100, 2 do half[i] = i end
for i = 1, 100 do s = s + half[i] end
print(s)
-- __newindex
local log, stored = {}, {}
local proxy = setmetatable({}, { __newindex = function(t, k, v) log[#log + 1] = v stored[k] = v end, __index = stored })
for i = 1, 90 do proxy[i] = i * 2 proxy["k" .. i] = i proxy.field = i proxy[2] = nil end
for i = 1, 90 do s = s + (proxy[i] or 0) + proxy["k" .. i] end
print(s, #log, proxy.field, rawlen(proxy), next(proxy))
local target = {}
local redirect = setmetatable({}, { __newindex = target })
for i = 1, 90 do redirect[i] = i redirect.x = i redirect["y" .. i % 3] = i end
print(#target, target.x, target.y1, next(redirect))
local raw = setmetatable({}, { __newindex = function(t, k, v) rawset(t, k, v + 1) end })
for i = 1, 90 do raw[i] = i raw[i] = raw[i] + 1 raw.n = i end
print(raw[1], raw[90], raw.n)
local deep = setmetatable({}, { __newindex = setmetatable({}, { __newindex = function(t, k, v) s = s + v end }) })
for i = 1, 90 do deep[i] = i deep.x = i end
print(s, next(deep))
-- nil through __newindex, and nil results
local nils = 0
local counts = setmetatable({}, { __newindex = function(t, k, v) if v == nil then nils = nils + 1 end end, __index = function() end })
for i = 1, 90 do counts[i] = nil counts.x = nil if counts[i] == nil and counts.x == nil then nils = nils + 1 end end
print(nils)
-- the metatable changes while the loop runs
local late = setmetatable({}, {})
for i = 1, 150 do
  s = s + (late.x or 1) + (late[i] or 2)
  if i == 50 then getmetatable(late).__index = function(t, k) return 5 end end
  if i == 100 then getmetatable(late).__index = { x = 9 } end
  if i == 120 then late.x = 100 end
  if i == 140 then setmetatable(late, nil) end
end
print(s)
-- registers of the instruction: the result overwrites an operand, the object is a method's
for i = 1, 90 do local t = squares t = t[i] s = s + t end
local m = setmetatable({}, { __index = function(t, k) return function(self, a) return rawequal(self, t) and a or 0 end end })
for i = 1, 90 do s = s + m:any(i) end
print(s)
-- errors, tracebacks, local variables seen from inside
local function look(level)
  local text = {}
  for n = 1, 20 do
    local name, value = debug.getlocal(level + 1, n)
    if name == nil then break end
    if name:sub(1, 1) ~= "(" then text[#text + 1] = name .. "=" .. tostring(value):gsub("0x%x+", "") end
  end
  return table.concat(text, " ")
end
local seen = setmetatable({}, {
  __index = function(t, k) if k == 66 then print(look(2)) print(debug.traceback("index")) end return k end,
  __newindex = function(t, k, v) if k == 77 then print(look(2)) print(debug.traceback("newindex")) end end })
local function reads(t)
  local sum, last = 0, "none"
  for i = 1, 80 do local x = i * 2 last = t[i] t[i] = x sum = sum + last + x end
  return sum
end
print(reads(seen))
local bad = setmetatable({}, { __index = function(t, k) if k == 71 then error("bad key") end return k end,
                               __newindex = function(t, k, v) if k == 75 then local x = nil .. "x" end end })
print(pcall(function() for i = 1, 90 do s = s + bad[i] end end))
print(select(2, xpcall(function() for i = 1, 90 do s = s + bad[i] end end, debug.traceback)))
print(select(2, xpcall(function() for i = 1, 90 do bad[i] = 1 end end, debug.traceback)))
local function outer(t, i) local r = t[i] return r + 1 end
print(select(2, xpcall(function() for i = 1, 90 do s = s + outer(bad, i) end end, debug.traceback)))
-- a loop in a metamethod, and a metamethod's loop that calls the same
local sums = setmetatable({}, { __index = function(t, n) local r = 0 for i = 1, n do r = r + i end return r end })
for i = 1, 70 do s = s + sums[i] end
local fib = setmetatable({ 1, 1 }, {})
getmetatable(fib).__index = function(t, n) local r = t[n - 1] + t[n - 2] t[n] = r return r end
for i = 1, 60 do s = s + fib[i] end
print(s)
-- iterators with metamethods inside, metamethods inside varargs
local iter = function(t, i) i = i + 1 if i <= 80 then return i, t[i] end end
for i, v in iter, squares, 0 do s = s + v end
local function spread(t, ...) local a, b = ... return t[a] + t[b] end
for i = 1, 80 do s = s + spread(squares, i, 2) end
local va = setmetatable({}, { __index = function(...) local t, k = ... return select("#", ...) + k end })
for i = 1, 80 do s = s + va[i] end
print(s)
