-- Recursion of several kinds inside hot loops: self, mutual, tail, with several results, deep enough to leave the trace.
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local s = 0
for i = 1, 60 do s = s + fib(i % 9) end
print(s)
local even, odd
function even(n) if n == 0 then return true end return odd(n - 1) end
function odd(n) if n == 0 then return false end return even(n - 1) end
local c = 0
for i = 1, 100 do if even(i % 13) then c = c + i end end
print(c)
local function loop(n, acc) if n == 0 then return acc, n end return loop(n - 1, acc + n) end
local t = 0
for i = 1, 80 do local a, b = loop(i, 0); t = t + a - b end
print(t, loop(2000, 0))
local function ack(m, n)
  if m == 0 then return n + 1 end
  if n == 0 then return ack(m - 1, 1) end
  return ack(m - 1, ack(m, n - 1))
end
local a = 0
for i = 0, 60 do a = a + ack(i % 3, i % 4) end
print(a)
local function tree(d) if d == 0 then return { 1 } end return { tree(d - 1), tree(d - 1) } end
local function check(n) if n[2] then return 1 + check(n[1]) + check(n[2]) end return 1 end
local sum = 0
for i = 1, 60 do sum = sum + check(tree(i % 5)) end
print(sum)
local function hanoi(n, from, to, by, moves)
  if n > 0 then
    hanoi(n - 1, from, by, to, moves)
    moves[#moves + 1] = from .. to
    hanoi(n - 1, by, to, from, moves)
  end
  return moves
end
local m = {}
for _ = 1, 12 do m = hanoi(4, "a", "b", "c", {}) end
print(#m, table.concat(m, " "))
