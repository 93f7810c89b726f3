-- Hooks that raise errors, as a watchdog does: the loop ends where it does without the JIT.
local function limited(steps, f, ...)
  debug.sethook(function() debug.sethook() error("enough", 0) end, "", steps)
  local result = table.pack(pcall(function(...)
    local r = f(...)
    debug.sethook()
    return r
  end, ...))
  debug.sethook()
  return table.unpack(result, 1, result.n)
end
local progress
local function spin(n)
  progress = 0
  for i = 1, n do progress = i end
  return "done"
end
local function nested(n)
  progress = 0
  for i = 1, n do
    for j = 1, 4 do progress = progress + j end
    local ok = pcall(string.rep, "x", -1)
  end
  return "nested"
end
for round = 1, 16 do
  print(round, limited(60 + round * 5, spin, round * 4))
  print(progress, limited(90 + round * 11, nested, round))
  print(progress)
end
-- A line hook that raises once, from a loop which goes on in another one.
for round = 1, 9 do
  local s, where = 0, nil
  local ok, message = pcall(function()
    for i = 1, 8 do
      if i == 5 then
        debug.sethook(function(_, line) debug.sethook() error({ line = line }) end, "l")
      end
      s = s + i
    end
  end)
  if not ok then where = message.line end
  for i = 1, 4 do s = s * 2 + i end
  print(round, ok, where, s, debug.gethook())
end
