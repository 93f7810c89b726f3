-- Yields in iterators of generic loops, written in Lua and C, and in what closes them.
local yield = coroutine.yield
local function step(n, i)
  local got = yield("step", i)
  if i + 1 <= n then return i + 1, got end
end
local function closer(name)
  return setmetatable({}, { __close = function(_, e) yield("close", name .. tostring(e)) end })
end
local function body(n)
  local s = 0
  for i, got in step, n, 0 do s = s + i * got end
  for i, got in step, n, 0, closer("a") do
    s = s + got
    if i == n - 1 then break end
  end
  for k = 1, n do
    local c <close> = closer("b")
    if k % 3 == 0 then goto continue end
    s = s + yield("body", k)
    ::continue::
  end
  local ok, e = pcall(function()
    for i, got in step, n, 0, closer("c") do
      s = s + got
      if i == n // 2 then error("half", 0) end
    end
  end)
  for i in coroutine.wrap(function() for j = 1, n do coroutine.yield(j) end end) do
    s = s + i + yield("inner", i)
  end
  return "end", s .. tostring(e)
end
for round = 1, 4 do
  local co = coroutine.wrap(body)
  local what, arg = co(9 + round * 3)
  local n, sum = 0, 0
  while what ~= "end" do
    n = n + 1
    sum = (sum * 7 + #what + #tostring(arg)) % 99991
    what, arg = co(n % 5)
  end
  print(round, n, sum, arg)
end
