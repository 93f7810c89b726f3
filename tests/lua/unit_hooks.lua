-- Hooks that are set and taken away while a recursion is hot: by its bottom, by a level of it, and before it.
local log = {}
local function note(event, line) log[#log + 1] = event:sub(1, 2) .. (line or "") end
local function flush(title)
  debug.sethook()
  print(title, #log, table.concat(log, " ", 1, math.min(#log, 60)))
  log = {}
end
local mask, count, at = nil, 0, -1
local function down(n)
  if n == at then debug.sethook(mask and note, mask or "", count) end
  if n == 0 then return 0 end
  local r = down(n - 1)
  return r + n
end
for i = 1, 20 do down(i) end
for _, m in ipairs { "c", "r", "l", "crl", "" } do
  for depth = 0, 6, 3 do
    mask, count, at = m, m == "" and 7 or 0, depth
    local r = down(6)
    flush(m .. " " .. depth .. " " .. r)
    at = -1
    down(9)
  end
end
for _, m in ipairs { "c", "l", "r" } do
  debug.sethook(note, m)
  local r = down(5)
  flush(r)
end

-- A hook that fails, one that counts, one that changes what the recursion reads.
local step, hooks = 1, 0
local function read(n) if n == 0 then return 0 end return read(n - 1) + step end
for i = 1, 20 do read(i) end
debug.sethook(function() hooks = hooks + 1 if hooks % 40 == 0 then step = step + 0.5 end end, "", 3)
for i = 1, 10 do io.write(read(i), " ") end
debug.sethook()
print(hooks, step, read(10))
local calls = 0
debug.sethook(function() calls = calls + 1 if calls == 8 then error("hook", 0) end end, "c")
print(pcall(read, 20))
debug.sethook()
print(calls, read(4))
debug.sethook(function()
  local name, value = debug.getlocal(2, 1)
  if name == "n" and value == 5 then debug.setlocal(2, 1, 2) end
end, "c")
print(read(9))
debug.sethook()
print(read(9))
local co = coroutine.create(function(n) coroutine.yield(read(n)) return read(n) end)
debug.sethook(co, note, "cr")
print(coroutine.resume(co, 3))
print(#log, coroutine.resume(co))
flush("coroutine")
