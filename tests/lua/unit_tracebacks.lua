-- Frames as they are seen from the bottom of a recursion: tracebacks, names, lines, locals, in a handler of
-- errors and in a function that is called now and then.
local function look()
  local list = {}
  for level = 2, 30 do
    local info = debug.getinfo(level, "Slntu")
    if not info then break end
    local part = { info.what, info.name or "?", info.namewhat, info.currentline, tostring(info.istailcall) }
    if info.what == "Lua" then
      for i = 1, 9 do
        local name, value = debug.getlocal(level, i)
        if not name then break end
        if name:sub(1, 1) ~= "(" then
          part[#part + 1] = name .. "=" .. (type(value) == "number" and value or type(value))
        end
      end
    end
    list[#list + 1] = table.concat(part, " ")
  end
  return table.concat(list, "\n  ")
end
local wanted = false
local function down(n, x)
  local twice = n * 2
  if n == 0 then
    if wanted then print(look()) print((debug.traceback("here", 1))) end
    return x
  end
  local r = down(n - 1, x + 0.5)
  return r + twice
end
for i = 1, 20 do down(i, i) end
for n = 0, 12, 3 do
  wanted = true
  local r = down(n, n)
  wanted = false
  print(n, r, down(n, n))
end

local object = { name = "object" }
function object:visit(n, t)
  if n == 0 then return t.missing.field end
  local here = n
  local r = self:visit(n - 1, t)
  return r + here
end
for i = 1, 20 do object:visit(i % 6, { missing = { field = 1 } }) end
local function handler(m)
  return m .. "\n" .. look() .. "\n" .. debug.traceback("traceback", 2)
end
for n = 1, 7, 3 do print(xpcall(object.visit, handler, object, n, {})) end
print(select(2, xpcall(object.visit, debug.traceback, object, 30, {})))

local function in_coroutine(n)
  if n == 0 then coroutine.yield() return 0 end
  local kept = n + 0.25
  return in_coroutine(n - 1) + kept
end
local co = coroutine.create(in_coroutine)
coroutine.resume(co, 9)
print(debug.traceback(co))
for level = 1, 9, 4 do print(debug.getlocal(co, level, 1)) print(debug.getlocal(co, level, 2)) end
print(coroutine.resume(co))
