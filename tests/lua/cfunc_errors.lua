-- errors of functions that compiled loops call as they are: the message names the right line, nothing is done twice
local N = 60
local function try(name, f)
  for round = 1, 3 do print(name, round, pcall(f, round)) end
end

try("format", function(r)
  local s
  for i = 1, N do s = string.format("%d", i < N - r and i or i + 0.5) end
  return s
end)
try("format kind", function(r)
  local s
  for i = 1, N do s = string.format(i < N - r and "%d" or "%y", i) end
  return s
end)
try("rep", function(r)
  local n = 0
  for i = 1, N do n = n + #("x"):rep(i < N - r and i or 1 << 60, ",") end
  return n
end)
try("find", function(r)
  local n = 0
  for i = 1, N do n = n + (("a[b"):find(i < N - r and "[b]" or "[b")) end
  return n
end)
try("gsub", function(r)
  local s
  for i = 1, N do s = ("abc"):gsub("b", i < N - r and "%0" or "%9") end
  return s
end)
try("gmatch", function(r)
  local n = 0
  for w in ("ab "):rep(N):gmatch("%a(%a)") do
    n = n + #w
    if n == N - r then error("in the loop " .. n, 0) end
  end
  return n
end)
try("concat", function(r)
  local t, n = { "a", "b", "c" }, 0
  for i = 1, N do
    if i == N - r then t[2] = {} end
    n = n + #table.concat(t, ",")
  end
  return n
end)
try("tonumber", function(r)
  local n = 0
  for i = 1, N do n = n + tonumber("11", i < N - r and 2 or 99) end
  return n
end)
try("rawset", function(r)
  local t = {}
  for i = 1, N do rawset(t, i < N - r and i or nil, i) end
  return #t
end)
try("next", function(r)
  local t, n = { a = 1 }, 0
  for i = 1, N do if next(t, i < N - r and "a" or "b") == nil then n = n + 1 end end
  return n
end)
local list = { 1, 2, 3 }
try("insert", function(r)
  for i = 1, N do
    table.insert(list, i < N - r and 2 or 99, i)
    table.remove(list, 2)
  end
end)
print(table.concat(list, " "))
try("remove", function(r)
  for i = 1, N do
    table.insert(list, 1, i)
    table.remove(list, i < N - r and 1 or 99)
  end
end)
print(table.concat(list, " "))
try("sort", function(r)
  local n = 0
  for i = 1, N do
    local t = { 3, 1, i < N - r and 2 or "x" }
    table.sort(t)
    n = n + t[1]
  end
  return n
end)
try("codes", function(r)
  local n = 0
  for p, c in utf8.codes(("a\u{20ac}"):rep(N) .. "\xff" .. r) do n = n + c end
  return n
end)
try("unpack", function(r)
  local n = 0
  for i = 1, N do n = n + string.unpack(i < N - r and "i2" or "i8", "abcd") end
  return n
end)
try("handler", function(r)  -- no message handler may run for a call that is made again
  local calls = 0
  local ok, message = xpcall(function()
    local s
    for i = 1, N do s = ("x"):rep(i < N - r and 1 or 2, i < N - r and "" or {}) end
  end, function(m) calls = calls + 1 return m end)
  return ok, message, calls
end)
local co = coroutine.wrap(function()
  local s
  while true do
    for i = 1, N do s = string.format("%s-%d", "c", i) end
    coroutine.yield(s)
  end
end)
for i = 1, 3 do print(co()) end
-- missing arguments
for _, f in ipairs({ next, rawset, rawget, tonumber, tostring, table.insert, table.remove, table.move, table.sort, table.pack,
                     string.format, string.rep, utf8.char, select, getmetatable }) do
  local n, message = 0, nil
  for i = 1, 20 do
    local ok, what = pcall(function()
      for j = 1, 5 do f() end
    end)
    if ok then n = n + 1 else message = what end
  end
  print(n, message)
end
