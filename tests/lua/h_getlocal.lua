-- Called functions look at all locals of their callers: what they see is what the program has there.
local function look(level)
  local t, n = {}, 1
  while true do
    local name, value = debug.getlocal(level + 1, n)
    if not name then break end
    if name:sub(1, 1) ~= "(" then
      t[#t + 1] = name .. "=" .. (type(value) == "table" and "{" .. tostring(value[1]) .. "}"
        or type(value) == "function" and "f" or tostring(value))
    end
    n = n + 1
  end
  return table.concat(t, ",")
end
local seen
local function note(level) seen = look(level + 1) return #seen end
local function leaf(a, b)
  local c = a * b
  local d = { c }
  note(1)
  local mine = seen
  note(2)
  return c, mine, seen
end
local function branch(x, ...)
  local first = ...
  local s = x .. "s"
  do local hidden = 5 x = x + hidden end
  local c, own, caller = leaf(x, 2)
  local tail = { c }
  note(2)
  return c, own .. "|" .. caller .. "|" .. seen
end
local last, changes = nil, 0
for i = 1, 30 do
  local f = i * 0.5
  local flag = i % 3 == 0
  local c, text = branch(i, f, flag)
  if text ~= last then changes = changes + 1 end
  last = text
  if i % 10 == 0 then print(c, text) end
end
print(changes)
-- Varargs, upvalues, functions and lines of the frames.
local function frame(level)
  local info = debug.getinfo(level + 1, "nSlutf")
  local _, v1 = debug.getlocal(level + 1, -1)
  local _, v2 = debug.getlocal(level + 1, -2)
  return tostring(info.name) .. ":" .. info.currentline .. ":" .. info.nups .. ":"
    .. tostring(info.istailcall)
    .. ":" .. tostring(v1) .. ":" .. tostring(v2), info.func
end
local function va(k, ...)
  local t, f = frame(1)
  local u = frame(2)
  return t .. " " .. u, f
end
local counts = {}
for i = 1, 30 do
  local text, f
  if i % 3 == 0 then text, f = va(i, i) elseif i % 3 == 1 then text, f = va(i, i, "x", 3) 
  else text, f = va(i) end
  if f ~= va then text = "wrong function" end
  counts[#counts + 1] = text
end
print(counts[28], counts[29], counts[30])
local function tailed(i) return va(i, "t") end
for i = 1, 12 do if i > 11 then print((tailed(i))) else tailed(i) end end
