-- Errors that unwind many levels: captured variables of each level are closed with the values they have, and
-- the functions that were made on the way down can be called later; levels catch, repair and throw again.
local made
local function down(n, at)
  local x, y = n, n * 0.5
  made[#made + 1] = function(d)
    x = x + d
    y = y - d
    return x, y
  end
  x = x + 1
  if n == at then error("at " .. n, 0) end
  if n == 0 then return 0 end
  local r = down(n - 1, at)
  x = x + 100
  return r + x + y
end
for _, n in ipairs { 3, 30, 300 } do
  for _, at in ipairs { -1, 0, n // 2, n } do
    made = {}
    local ok, v = pcall(down, n, at)
    local sx, sy = 0, 0
    for round = 1, 2 do
      for i, f in ipairs(made) do
        local a, b = f(round)
        sx, sy = sx + a, sy + b * i
      end
    end
    print(n, at, ok, v, #made, sx, sy)
  end
end

-- Levels that catch, repair and throw again.
local repairs = 0
local function layer(n, limit)
  local state = { n }
  local function undo() state[1] = -n repairs = repairs + 1 end
  if n == limit then error(setmetatable({ at = n }, { __name = "E" })) end
  if n % 3 == 0 then
    local ok, e = pcall(layer, n + 1, limit)
    if not ok then
      undo()
      if e.at > 20 and n % 2 == 0 then
        e.at = e.at - 20
        return e.at + state[1]
      end
      error(e)
    end
    return e + state[1]
  end
  return layer(n + 1, limit) + state[1]
end
for limit = 1, 90, 11 do
  local ok, v = pcall(layer, 0, limit)
  print(limit, ok, ok and v or v.at, repairs)
end

-- Deep levels in a coroutine that dies of an error: its variables are seen from outside.
local peek
local function dying(n)
  local held = n
  if n == 5 then peek = function(v) local old = held held = v or held return old end end
  if n == 0 then error({}) end
  dying(n - 1)
  return held
end
for n = 5, 60, 11 do
  local co = coroutine.create(dying)
  local ok, e = coroutine.resume(co, n)
  print(n, ok, type(e), coroutine.status(co), peek(), peek(n), peek())
end

-- From callbacks of gsub, sort and metamethods, at a depth of Lua's own in between.
local function lua(k, f) if k == 0 then return f() end return (lua(k - 1, f)) end
local ways = {
  function(f) return (("x"):gsub("x", f)) end,
  function(f) table.sort({ 1, 2, 3 }, function() return f() end) end,
  function(f) return setmetatable({}, { __index = f }).x end,
  function(f) return -setmetatable({}, { __unm = f }) end,
  function(f) return coroutine.wrap(f)() end,
  function(f) for _ in f do end end,
}
local count = 0
for round = 1, 6 do
  for k, way in ipairs(ways) do
    for depth = 0, 40, 20 do
      local x = depth
      local function thrower()
        x = x + 1
        count = count + 1
        return lua(depth, function() error(x + k / 8, 0) end)
      end
      local ok, e = pcall(lua, depth, function() return way(thrower) end)
      if round == 6 then print(k, depth, ok, e, x, count) end
    end
  end
end
