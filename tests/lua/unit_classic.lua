-- Well-known recursive functions: Ackermann, Hanoi, Tak, Catalan, binomials, powers, greatest divisors,
-- change, queens, partitions, Collatz; with integers and floats.
local function ack(m, n)
  if m == 0 then return n + 1 end
  if n == 0 then return ack(m - 1, 1) end
  return ack(m - 1, ack(m, n - 1))
end
local function ackermann(m, n)
  if m == 0 then return n + 1 end
  if n == 0 then local r = ackermann(m - 1, 1) return r end
  local r = ackermann(m - 1, (ackermann(m, n - 1)))
  return r
end
for m = 0, 2 do for n = 0, 6 do io.write(ack(m, n), "/", ackermann(m, n + 0.0), " ") end end
print(ack(3, 3), ackermann(3, 3))
local moves
local function hanoi(n, from, to, over)
  if n == 0 then return 0 end
  local a = hanoi(n - 1, from, over, to)
  moves[from] = moves[from] - 1
  moves[to] = moves[to] + 1
  return a + 1 + hanoi(n - 1, over, to, from)
end
for n = 0, 8 do
  moves = { n, 0, 0 }
  io.write(hanoi(n, 1, 3, 2), ":", moves[1], moves[2], moves[3], " ")
end
print()
local function tak(x, y, z)
  if y >= x then return z end
  return (tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y)))
end
print(tak(10, 6, 2), tak(8, 4.0, 0), tak(9.0, 5, 1))
local function catalan(n) if n == 0 then return 1 end return catalan(n - 1) * 2 * (2 * n - 1) // (n + 1) end
local function choose(n, k)
  if k == 0 or k == n then return 1 end
  return choose(n - 1, k - 1) + choose(n - 1, k)
end
local function power(x, n)
  if n == 0 then return 1 end
  if n % 2 == 1 then return x * power(x, n - 1) end
  local half = power(x, n // 2)
  return half * half
end
local function gcd(a, b) if b == 0 then return a end return (gcd(b, a % b)) end
for n = 0, 30, 3 do
  print(catalan(n), choose(10, n % 11), power(3, n), power(1.5, n), gcd(n * 12, 90), gcd(n, 4.5))
end
local coins = { 50, 25, 10, 5, 1 }
local function change(amount, kind)
  if amount == 0 then return 1 end
  if amount < 0 or kind > #coins then return 0 end
  return change(amount - coins[kind], kind) + change(amount, kind + 1)
end
for n = 0, 60, 12 do io.write(change(n, 1), " ") end
print()
local function queens(row, n, columns, up, down)
  if row == n then return 1 end
  local count = 0
  for c = 0, n - 1 do
    if not columns[c] and not up[row + c] and not down[row - c] then
      columns[c], up[row + c], down[row - c] = true, true, true
      count = count + queens(row + 1, n, columns, up, down)
      columns[c], up[row + c], down[row - c] = nil, nil, nil
    end
  end
  return count
end
local function bits(all, c, l, r)
  if c == all then return 1 end
  local function try(free, sum)
    if free == 0 then return sum end
    local bit = free & -free
    return try(free & ~bit, sum + bits(all, c | bit, (l | bit) << 1, (r | bit) >> 1))
  end
  return try(all & ~(c | l | r), 0)
end
for n = 1, 6 do io.write(queens(0, n, {}, {}, {}), "/", bits((1 << n) - 1, 0, 0, 0), " ") end
print()
local function partitions(n, most)
  if n == 0 then return 1 end
  if n < 0 or most == 0 then return 0 end
  return partitions(n - most, most) + partitions(n, most - 1)
end
local function collatz(n)
  if n == 1 then return 0 end
  return 1 + (n % 2 == 0 and collatz(n // 2) or collatz(3 * n + 1))
end
for n = 1, 18 do io.write(partitions(n, n), "/", collatz(n), " ") end
print(collatz(27), collatz(97.0))
