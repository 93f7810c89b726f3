-- Errors and yields in the very call that a recording waits for; the same frames are then used by others.
local source = [[
local gsub, at, kind = string.gsub, ...
local shared = 0
local function g(x, f)
  local r = gsub("x", "x", f)
  if x == 5 then shared = shared + 1 end
  return r .. x
end
local function boom() error("x", 0) end
local function fine() return "y" end
local function first(n, stop)
  local s, u = 0, 1.5
  local i = 0
  while i < n do
    i = i + 1
    local a = 5
    s = s + #g(a, i == stop and boom or fine) + u
  end
  return s
end
local function second(n)
  local v, w = "abc", {}
  local r
  repeat
    r = g(7, fine)
    n = n - 1
    w[n] = r
  until n < 0
  return v .. r .. #w .. w[1]
end
local function third(n, x, stop)
  local s, i = x, 0
  while i < n do
    i = i + 1
    local c, t
    if stop then c = 5 t = {} else c = 7 t = "abc" end
    gsub("x", "x", i == stop and boom or fine)
    if c == 5 then s = s + 1 else s = s + 100 end
    s = s + #t
  end
  return s
end
local results = {}
local function note(ok, v) results[#results + 1] = tostring(v) end
if kind == 1 then
  note(pcall(first, 12, at)) note(pcall(second, 6)) note(pcall(first, 12)) note(pcall(second, 12))
elseif kind == 2 then
  note(pcall(third, 12, 0, at)) note(pcall(third, 8, 0.5)) note(pcall(third, 8, 3, 100))
  note(pcall(third, 9, 1))
else
  local co = coroutine.create(function(n)
    local s, i = 0, 0
    while i < n do
      i = i + 1
      if i == at then coroutine.yield(s) end
      s = s + #g(i % 3 + 4, fine)
      local ok, v = pcall(i == at + 1 and boom or fine)
      s = s + (ok and 1 or 10)
    end
    return s
  end)
  note(coroutine.resume(co, 14)) note(pcall(second, 5)) note(coroutine.resume(co)) note(pcall(third, 9, 1))
end
results[#results + 1] = shared
return table.concat(results, " ")
]]
for kind = 1, 3 do
  for at = 1, 9 do
    print(kind, at, load(source, "=source")(at, kind))
    if at % 3 == 0 then collectgarbage() end
  end
end
