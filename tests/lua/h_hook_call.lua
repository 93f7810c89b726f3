-- Call and return hooks that are set in the middle: each later call and return is seen, with its name.
local events = {}
local function hook(event)
  local info = debug.getinfo(2, "nSt")
  if info.short_src == "[C]" and info.name == "sethook" then return end
  events[#events + 1] = (event == "call" and "+" or event == "return" and "-" or "~")
      .. tostring(info.name) .. (info.istailcall and "t" or "")
end
local function add(a, b) return a + b end
local function tail(a, b) return add(a, b) end
local function deep(n)
  if n == 0 then debug.sethook(hook, "cr") return 0 end
  return add(deep(n - 1), 1)
end
for round = 1, 24 do
  events = {}
  local s = 0
  for i = 1, 20 do
    s = add(s, i)
    if i == 17 and round % 3 ~= 0 then s = s + deep(round % 4) end
    s = tail(s, math.max(i, 2)) % 1009
  end
  debug.sethook()
  print(round, s, #events, table.concat(events, " "))
end
-- In a coroutine, and not in the thread around it.
for round = 1, 12 do
  events = {}
  local co = coroutine.create(function()
    local s = 0
    for i = 1, 20 do
      s = add(s, i)
      if i == 12 then debug.sethook(hook, "c") end
      if i % 7 == 0 then coroutine.yield(s) end
    end
    return tail(s, 1)
  end)
  local a, b, c, d, e, f
  a, b = coroutine.resume(co)
  for i = 1, 3 do b = add(b, i) end
  c, d = coroutine.resume(co)
  e, f = coroutine.resume(co)
  print(round, a, b, c, d, e, f, debug.gethook(), table.concat(events, " "))
end
