-- Where C code stands between, a yield is an error; its message is that of stock Lua, also from hot loops.
local function attempt(what, i)
  if what == 1 then
    table.sort({ 3, 2, 1 }, function(a, b) if i % 3 == 0 then coroutine.yield(i) end return a < b end)
  elseif what == 2 then
    return (string.gsub("abc", "%w", function(c) if i % 3 == 0 then coroutine.yield(i) end return c .. c end))
  elseif what == 3 then
    return tostring(setmetatable({}, { __tostring = function()
      if i % 3 == 0 then coroutine.yield(i) end
      return "text"
    end }))
  elseif what == 4 then
    return load(function() if i % 3 == 0 then coroutine.yield(i) end return nil end) and "loaded"
  elseif what == 5 then
    return table.concat(setmetatable({}, {
      __len = function() if i % 3 == 0 then coroutine.yield(i) end return 2 end,
      __index = function(_, k) return k end,
    }), "-")
  end
  return i
end
local function all(what)
  local counts, last = {}, nil
  for i = 1, 24 do
    local ok, r = pcall(attempt, what, i)
    local key = tostring(ok) .. " " .. tostring(r)
    counts[key] = (counts[key] or 0) + 1
    last = key
  end
  local n = 0
  for _ in pairs(counts) do n = n + 1 end
  return last, n, counts[last]
end
for what = 1, 6 do
  print(what, "main", all(what))
  print(what, "thread", coroutine.wrap(all)(what))
end
-- In the main thread there is nothing to yield to.
local n = 0
for i = 1, 20 do
  local ok, e = pcall(coroutine.yield, i)
  if not ok and e == "attempt to yield from outside a coroutine" then n = n + 1 end
end
print(n, coroutine.isyieldable(), coroutine.wrap(coroutine.isyieldable)())
