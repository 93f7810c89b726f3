-- Functions with many parameters and many variables: up to and beyond what fits into registers, some of which
-- change their types; and with none at all.
local function six(n, a, b, c, d, e)
  if n == 0 then return a + b * 2 + c * 3 + d * 4 + e * 5 end
  local r = six(n - 1, b, c, d, e, a)
  return r + a
end
local function twelve(n, a, b, c, d, e, f, g, h, i, j, k)
  if n == 0 then return a + b + c + d + e + f + g - h - i - j - k end
  local r = twelve(n - 1, k, a, b, c, d, e, f, g, h, i, j)
  return r * 2 - k
end
local function eighteen(n, a, b, c, d, e, f, g, h, i, j, k, l, m, o, p, q, r)
  if n == 0 then return a + r end
  local s = eighteen(n - 1, b, c, d, e, f, g, h, i, j, k, l, m, o, p, q, r, a)
  return s + q
end
local function variables(n)
  if n == 0 then return 0 end
  local a, b, c, d, e, f, g, h = n, n + 1, n * 2, n / 2, n - 1, n % 3, -n, n // 2
  local i, j, k, l, m, o, p, q = a + b, b * c, c - d, d + e, e * f, f - g, g + h, h * a
  local r = variables(n - 1)
  local s = a + b + c + d + e + f + g + h
  local t = i + j + k + l + m + o + p + q
  return r + s - t
end
local level = 0
local function none()
  level = level + 1
  if level > 20 then level = 0 return 0 end
  return none() + 1
end
for n = 0, 24 do
  local x = n % 6 == 5 and n + 0.5 or n
  print(n, six(n, 1, 2, 3, 4, x), twelve(n, 1, 2, 3, 4, 5, 6, 7, 8, 9, x, 11),
        eighteen(n, x, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17), variables(n), none())
end
print(pcall(six, 3, 1, 2, 3, nil, 5))
print(pcall(six, 5, 1, 2, 3, 4))
print(pcall(twelve, 4, 1, 2, 3, 4, 5, 6, 7, 8, 9, "x", 11))
print(six(30, 1, "2", 3, 4, 5), twelve(9, 1.5, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13))
local function mixed(n, i, f, s, t, b, z)
  if n == 0 then return i, f, s, t[1], b, z end
  t[1] = t[1] + 1
  if n == 4 then return mixed(n - 1, i + 1, f * 2, s .. n, t, not b, z) end
  return mixed(n - 1, i + 1, f * 2, s, t, not b)
end
for n = 0, 9 do print(mixed(n, n, 0.5, "s", { n }, n > 4, 7)) end
local function plain(n, i, f, s, t, b)
  if n == 0 then return b and t or s end
  local r = plain(n - 1, i + 1, f * 2, s, t, not b)
  if r == t then r[1] = r[1] + i else r = r == s and f or r end
  return r
end
for n = 0, 20 do
  local r = plain(n, n, 0.5, "s", { n }, n > 9)
  io.write(type(r) == "table" and r[1] or r, n % 7 == 6 and "\n" or " ")
end
