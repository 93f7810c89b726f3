-- Overflow met by error handlers: handlers that count, that recurse themselves, and that fail; overflow in
-- two and three functions that call each other; overflow caught half way and met once more.
local deepest = 0
local function first_line(text) return (tostring(text):gsub("\n.*", ""):gsub("%(.*", "")) end

local ping, pong
function ping(n)
  local a, b, c, d, e, f, g, h, i, j, k, l = n, n, n, n, n, n, n, n, n, n, n, n
  local m, o, p, q, r, s, t, u = a, b, c, d, e, f, g, h
  deepest = n
  return pong(n + 1) + a + l
end
function pong(n)
  local a, b, c, d, e, f, g, h, i, j, k, l = n, n, n, n, n, n, n, n, n, n, n, n
  local m, o, p, q, r, s, t, u = a, b, c, d, e, f, g, h
  deepest = n
  return ping(n + 1) - b * k
end

local x, y, z
function x(n)
  local a, b, c, d, e, f, g, h, i, j, k, l = n, n, n, n, n, n, n, n, n, n, n, n
  local m, o, p, q, r, s, t, u = a, b, c, d, e, f, g, h
  deepest = n
  return y(n + 1) .. a
end
function y(n)
  local a, b, c, d, e, f, g, h, i, j, k, l = n, n, n, n, n, n, n, n, n, n, n, n
  local m, o, p, q, r, s, t, u = a, b, c, d, e, f, g, h
  deepest = n
  return z(n + 1) .. b
end
function z(n)
  local a, b, c, d, e, f, g, h, i, j, k, l = n, n, n, n, n, n, n, n, n, n, n, n
  local m, o, p, q, r, s, t, u = a, b, c, d, e, f, g, h
  deepest = n
  return x(n + 1) .. c
end

for name, f in ipairs { ping, x } do
  deepest = 0
  local ok, e = pcall(f, 1)
  print(name, ok, deepest, first_line(e))
  local calls = 0
  deepest = 0
  ok, e = xpcall(f, function(m) calls = calls + 1 return m end, 1)
  print(name, ok, deepest, calls, first_line(e))
end

-- A handler that runs through a recursion of its own.
local function count(n) if n == 0 then return 0 end return 1 + count(n - 1) end
for i = 1, 300 do count(i % 20) end
print(xpcall(ping, function(m) return count(30) + count(3) end, 1))
-- A handler that overflows in turn, and one that always fails.
local function endless(n)
  local a, b, c, d, e, f, g, h, i, j, k, l = n, n, n, n, n, n, n, n, n, n, n, n
  local m, o, p, q, r, s, t, u = a, b, c, d, e, f, g, h
  return 1 + endless(n + 1) + a
end
local ok, e = xpcall(endless, function() return endless(1) end, 1)
print(ok, type(e))
ok, e = xpcall(error, function(m) error(m, 0) end, "again")
print(ok, type(e))

-- Caught at a level half way; the levels above it go on.
local caught = 0
local function half(n, at)
  if n == at then
    local fine, m = pcall(endless, 1)
    caught = caught + 1
    return fine and -1 or #first_line(m)
  end
  local r = half(n + 1, at)
  return r + 1
end
for i = 1, 2 do print(i, half(1, i * 50 + 1), caught) end
-- A nest of protected calls that each see the overflow of the one inside.
local seen = 0
local function nest(n)
  if n == 0 then return endless(1) end
  local fine, m = pcall(nest, n - 1)
  seen = seen + 1
  error(m, 0)
end
for i = 1, 2 do
  seen = 0
  local fine, m = pcall(nest, i * 3)
  print(i, fine, seen, first_line(m))
end
