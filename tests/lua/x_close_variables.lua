-- To-be-closed variables in hot loops: end of block, break, goto, return, error, error in the close, nil and false.
local log, n = {}, 0
local function res(name) return setmetatable({ name = name }, { __close = function(r, e) n = n + 1; log[#log + 1] = r.name .. (e and "!" or "") end }) end
for i = 1, 60 do
  local r <close> = res("a")
  n = n + i
  if i == 55 then break end
end
print(n, #log, log[1])
log = {}
local function leave(i)
  local r <close> = res("r" .. i)
  if i % 3 == 0 then return i end
  if i % 3 == 1 then error("e" .. i, 0) end
  local q <close> = res("q" .. i)
  return n
end
local good, bad = 0, 0
for i = 1, 60 do local ok = pcall(leave, i); if ok then good = good + 1 else bad = bad + 1 end end
print(good, bad, #log, table.concat(log, " ", 1, 12))
local s = 0
for i = 1, 60 do
  local a <close> = i % 2 == 0 and res("x") or nil
  local b <close> = false
  if i % 5 == 0 then goto continue end
  s = s + i
  ::continue::
end
print(s, n)
local nested = {}
for i = 1, 10 do
  local outer <close> = setmetatable({}, { __close = function() nested[#nested + 1] = "o" end })
  for j = 1, 6 do
    local inner <close> = setmetatable({}, { __close = function() nested[#nested + 1] = "i" end })
    if j == 4 then break end
  end
end
print(table.concat(nested))
print(pcall(function()
  for i = 1, 60 do
    local r <close> = setmetatable({}, { __close = function(_, e) if i == 50 then error("close " .. tostring(e), 0) end end })
    if i == 70 then error("never") end
  end
end))
print(pcall(function()
  for i = 1, 60 do
    local r <close> = setmetatable({}, { __close = function(_, e) if e then error("second after " .. e, 0) end end })
    if i == 40 then error("first", 0) end
  end
end))
print(pcall(function() for i = 1, 60 do local r <close> = i < 60 and nil or {} end end))
-- Iterators with a closing value.
local closes = 0
local function iter(limit)
  local state = setmetatable({}, { __close = function() closes = closes + 1 end })
  return function(_, k) if k < limit then return k + 1 end end, nil, 0, state
end
local t = 0
for i = 1, 30 do for k in iter(8) do t = t + k; if k == i then break end end end
print(t, closes)
local c <const> = 42
for i = 1, 60 do t = t + c end
print(t)
