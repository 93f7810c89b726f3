-- Errors at some depth of a recursion: raised and of the interpreter's own, caught at the top and in the
-- middle, raised again, of all kinds of values.
local at, kind = -1
local counted = 0
local function fail(n)
  if kind == 1 then error("message " .. n) elseif kind == 2 then error({ code = n })
  elseif kind == 3 then error("level 2 at " .. n, 2) elseif kind == 4 then return nil + n
  elseif kind == 5 then return ("x")() elseif kind == 6 then error() elseif kind == 7 then return #n end
end
local function work(n, x)
  counted = counted + 1
  if n == at then fail(n) end
  if n == 0 then return x end
  return work(n - 1, x + 1) + 1
end
local function text(ok, v)
  if type(v) == "table" then v = "table " .. tostring(v.code) end
  return tostring(ok) .. " " .. tostring(v)
end
for i = 1, 30 do work(i % 9, i) end
for k = 1, 7 do
  kind = k
  for depth = 0, 10, 2 do
    at = depth
    print(k, depth, counted, text(pcall(work, 10, 1)))
  end
  at = -1
  print(work(10, 0.5), counted)
end

-- The function's own operations fail.
local function own(n, t)
  if n == 0 then return t.x.y end
  return own(n - 1, t) + t.add
end
for i = 1, 20 do own(i % 5, { x = { y = 1 }, add = 2 }) end
print(pcall(own, 5, { x = { y = 1 } }))
print(pcall(own, 5, { add = 1 }))
print(pcall(own, 5, { x = {}, add = 1 }))
print(pcall(own, 5))
print(pcall(own, "a", {}))
print(pcall(own, nil, {}))

-- Caught in the middle.
local function guarded(n)
  counted = counted + 1
  if n == 0 then error("bottom", 0) end
  if n % 4 == 0 then
    local ok, e = pcall(guarded, n - 1)
    return ok and e or n
  end
  return guarded(n - 1) + 1
end
for n = 4, 40, 3 do io.write(guarded(n), " ", counted, "; ") end
print()
print(pcall(guarded, 3))
local function rethrow(n)
  if n == 0 then error({ depth = 0 }) end
  local ok, e = pcall(rethrow, n - 1)
  e.depth = e.depth + 1
  error(e)
end
for n = 1, 12 do local ok, e = pcall(rethrow, n) io.write(tostring(ok), e.depth, " ") end
print()
