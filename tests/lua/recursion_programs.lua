-- Well-known recursive functions, in one program so that each is hot for a while: Ackermann, Takeuchi,
-- McCarthy's 91, greatest divisors, binomials, Collatz, Hanoi, flood fill, digits, and a fractal curve.
local function ack(m, n)
  if m == 0 then return n + 1 end
  if n == 0 then return ack(m - 1, 1) end
  return ack(m - 1, ack(m, n - 1))
end
local function tak(x, y, z)
  if y >= x then return z end
  return tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y))
end
local function mc91(n) if n > 100 then return n - 10 end return mc91(mc91(n + 11)) end
local function gcd(a, b) return b == 0 and a or gcd(b, a % b) end
local function binomial(n, k)
  if k == 0 or k == n then return 1 end
  return binomial(n - 1, k - 1) + binomial(n - 1, k)
end
local function collatz(n, steps)
  if n == 1 then return steps end
  if n & 1 == 0 then return collatz(n >> 1, steps + 1) end
  return collatz(3 * n + 1, steps + 1)
end
local function hanoi(n, a, b, c)
  if n == 0 then return 0, 0 end
  local m1, s1 = hanoi(n - 1, a, c, b)
  local m2, s2 = hanoi(n - 1, c, b, a)
  return m1 + m2 + 1, (s1 * 3 + s2 + a * b) % 9973
end
local function digits(n, base)
  if n < base then return tostring(n) end
  return digits(n // base, base) .. n % base
end
local function palindrome(s, i, j)
  return i >= j or s:byte(i) == s:byte(j) and palindrome(s, i + 1, j - 1)
end
print(ack(1, 5), ack(2, 7), ack(2, 3.0), ack(3, 3))
print(tak(8, 5, 2), tak(7.0, 4, 1), tak(3, 9, 1))
print(mc91(1), mc91(50.5), mc91(99), mc91(120))
local s = 0
for a = 1, 40 do for b = 1, 20 do s = s + gcd(a * 6, b * 4) end end
print(s, gcd(2.5, 0.5), gcd(-12, 18), gcd(0, 0), gcd(1 << 62, 1 << 40))
print(binomial(12, 5), binomial(10, 0), binomial(9.0, 4))
for n = 1, 97, 12 do io.write(collatz(n, 0), " ") end
print()
for n = 1, 9, 2 do io.write(table.concat({ hanoi(n, 1, 2, 3) }, ":"), " ") end
print()
print(digits(255, 2), digits(10 ^ 6, 10), digits(123456789, 7), digits(-5, 3))
local count = 0
for n = 1, 999 do if palindrome(tostring(n), 1, #tostring(n)) then count = count + 1 end end
print(count, palindrome("", 1, 0), palindrome("abca", 1, 4))

local function fill(grid, x, y, from, to)
  local row = grid[y]
  if not row or row[x] ~= from then return 0 end
  row[x] = to
  return 1 + fill(grid, x + 1, y, from, to) + fill(grid, x - 1, y, from, to) + fill(grid, x, y + 1, from, to)
    + fill(grid, x, y - 1, from, to)
end
local grid = {}
for y = 1, 16 do
  grid[y] = {}
  for x = 1, 24 do grid[y][x] = (x * y + x // 3) % 5 == 0 and "#" or "." end
end
print(fill(grid, 1, 1, ".", "o"), fill(grid, 24, 16, ".", "p"), fill(grid, 5, 1, "#", "x"))
for y = 1, 16, 5 do print(table.concat(grid[y])) end

local function dragon(n, turn, out)
  if n == 0 then return end
  dragon(n - 1, "R", out)
  out[#out + 1] = turn
  dragon(n - 1, "L", out)
end
local out = {}
dragon(6, "R", out)
print(#out, table.concat(out))
local function koch(n, length, points)
  if n == 0 then return length, points + 1 end
  local l, p = 0, points
  for i = 1, 4 do
    local part
    part, p = koch(n - 1, length / 3, p)
    l = l + part
  end
  return l, p
end
for n = 0, 4 do print(n, string.format("%.10f %d", koch(n, 1, 0))) end
local function parts(s, f)
  if #s <= 1 then return f(s) end
  local m = #s // 2
  return parts(s:sub(m + 1), f) .. parts(s:sub(1, m), f)
end
print(parts("recursion", string.upper), parts("a1b2c3", function(c) return c:rep(2) end))
