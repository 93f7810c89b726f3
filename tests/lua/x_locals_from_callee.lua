-- debug.getlocal and setlocal on the running loop from a function that the loop calls, directly and two levels deep.
local function find(level, name)
  for n = 1, 50 do
    local k, v = debug.getlocal(level + 1, n)
    if k == nil then return nil end
    if k == name then return v, n end
  end
end
local function peek(name) return (find(3, name)) end
local function set(name, value)
  local _, n = find(3, name)
  return debug.setlocal(2, n, value)
end
local function peek_deep(name) local v = find(4, name) return v end
local function middle(name) local r = peek_deep(name); return r end
local function run(n)
  local count, word, flag, ratio = 0, "a", true, 0.5
  local trail = {}
  for i = 1, n do
    count = count + 1
    ratio = ratio + 0.25
    if i % 30 == 0 then
      local before = (function() return (find(2, "count")) end)()
      trail[#trail + 1] = tostring(before)
    end
    if i == 40 then set("count", 1000) end
    if i == 50 then set("count", 0.5) end
    if i == 60 then set("word", { "table" }) end
    if i == 70 then set("flag", nil) end
    if i == 80 then set("ratio", "9") end
    if flag then count = count + 1 end
  end
  return count, type(word), word[1], flag, ratio, table.concat(trail, " ")
end
print(pcall(run, 100))
print(pcall(run, 45))
local function locals()
  local names = {}
  for n = 1, 50 do
    local k, v = debug.getlocal(2, n)
    if k == nil then break end
    if k:find("^%a") then names[#names + 1] = k .. "=" .. tostring(v) end
  end
  return table.concat(names, ",")
end
local function shows(a, ...)
  local out
  for i = 1, 60 do
    local sq = i * i
    do local hidden = -i end
    if i % 20 == 0 then local late = a .. i; out = (out or "") .. locals():gsub("out=.-,i=", "i=") .. ";" end
  end
  return out
end
print((shows("q", 1, 2)))
-- Varargs of the running function.
local function vars(...)
  local s = 0
  for i = 1, 60 do
    s = s + (...)
    if i == 30 then debug.setlocal(1, -1, 100) end
  end
  return s, ...
end
print(vars(1, 2, 3))
-- Upvalues set from outside.
local up = 1
local function reader(n) local s = 0 for i = 1, n do s = s + up; if i == 20 then debug.setupvalue(debug.getinfo(1, "f").func, 1, 10) end end return s end
print(pcall(reader, 60), debug.getupvalue(reader, 1))
print(debug.getinfo(1, "l").currentline, debug.getinfo(run, "S").linedefined)
local where = {}
local function here(level) where[#where + 1] = debug.getinfo(level + 1, "l").currentline end
for i = 1, 60 do
  if i % 20 == 0 then
    here(1)
  end
end
print(table.concat(where, " "))
