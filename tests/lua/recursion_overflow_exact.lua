-- The depth at which the stack is full does not depend on how a function was compiled: functions with several
-- parameters, called with as many or more arguments, above frames of several sizes.
local deepest = 0
local function six(n, x, y, z, u, v)
  local a, b, c, d, e, f, g, h, i, j = n, n, n, n, n, n, n, n, n, n
  deepest = n
  return six(n + 1, x, y, z, u, v) + j
end
local function more(n, x)
  local a, b, c, d, e, f, g, h, i, j, k, l = n, n, n, n, n, n, n, n, n, n, n, n
  deepest = n
  return more(n + 1, n, n, n, n, n) + l
end
local two_a, two_b
function two_a(n, x)
  local a, b, c, d, e, f, g, h, i, j, k, l = n, n, n, n, n, n, n, n, n, n, n, n
  deepest = n
  return two_b(n + 1, x, n, n, x) + l
end
function two_b(n, x, y, z, u)
  local a, b, c, d, e, f, g, h, i, j = n, n, n, n, n, n, n, n, n, n
  deepest = n
  return two_a(n + 1, u) + j
end
local function padded(f, ...)
  deepest = 0
  local ok, e = pcall(f, 1)
  return deepest .. ":" .. e:match(":(%d+):")
end
for name, f in ipairs { six, two_a } do
  local line = {}
  for pad = 0, 2 do line[#line + 1] = padded(f, table.unpack({}, 1, pad * 4)) end
  print(name, table.concat(line, " "))
end
