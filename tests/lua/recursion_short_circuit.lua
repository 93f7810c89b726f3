-- Recursion in conditions and operands: and, or, not, comparisons, concatenation on both sides, conditions of
-- loops, index and key expressions, table constructors, and negations; a side is left out at times.
local function all(t, i, test) return i > #t or test(t[i]) and all(t, i + 1, test) end
local function any(t, i, test) return i <= #t and (test(t[i]) or any(t, i + 1, test)) end
local function none(t, i, test) return not (i <= #t and (test(t[i]) or not none(t, i + 1, test))) end
local t, line = {}, {}
for i = 1, 30 do t[i] = i * 11 % 31 end
for limit = 0, 31 do
  local function low(x) return x < limit end
  local a, b, c = all(t, 1, low), any(t, 1, low), none(t, 1, low)
  line[#line + 1] = (a and "a" or "-") .. (b and "y" or "-") .. (c and "n" or "-")
end
print(table.concat(line, " "))

local function default(n)
  return n > 0 and (n % 3 == 0 and false or n % 5 == 0 and nil or default(n - 1)) or n
end
local function value(n)
  if n % 7 == 0 then return nil end
  return n % 4 == 0 and default(n - 1) or n % 6 == 0 and value(n + 1) or -n
end
for n = 0, 40, 5 do print(n, default(n), value(n), value(n + 2)) end

local function roman(n)
  return n >= 10 and "X" .. roman(n - 10) or n >= 9 and "IX" .. roman(n - 9) or n >= 5 and "V" .. roman(n - 5)
    or n >= 4 and "IV" or n > 0 and "I" .. roman(n - 1) or ""
end
local function mirror(s) return #s < 2 and s or mirror(s:sub(2)) .. s:sub(1, 1) end
local function nest(n)
  return n == 0 and "." or "(" .. nest(n - 1) .. (n % 2 == 0 and nest(n - 2) or "") .. ")"
end
for n = 1, 39, 6 do print(roman(n), mirror(roman(n)), #nest(n % 14), nest(n % 5)) end

-- In comparisons: both sides recurse; equal depths, texts and numbers.
local function size(t) return type(t) == "table" and 1 + size(t[1]) + size(t[2]) or 0 end
local function build(n) return n > 0 and { build(n - 1), n % 2 == 0 and build(n - 2) or n } or nil end
local function same(a, b)
  return a == b or type(a) == "table" and type(b) == "table" and same(a[1], b[1]) and same(a[2], b[2])
end
local function less(a, b) return size(a) < size(b) or size(a) == size(b) and size(a[2]) <= size(b[2]) end
for n = 1, 9 do
  local a, b = build(n), build(n)
  local c = build(n + n % 2)
  print(n, size(a), a == b, same(a, b), same(a, c), less(a, c), less(c, a), size(a) >= size(c))
end

-- As index, key, value and condition of a loop.
local map = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3 }
local function follow(i, n) return n == 0 and i or map[follow(map[i] or 1, n - 1)] or 1 end
local function counted(n)
  local s = 0
  while n > 0 and counted(n - 2) < 50 do
    s = s + n
    n = n - 1
  end
  return s
end
local function keyed(n) return n == 0 and { [0] = 0 } or { [keyed(n - 1)[n - 1] + 1] = n, [n] = n, n = n } end
for n = 1, 13, 3 do print(n, follow(n % 10 + 1, n), counted(n % 12), keyed(n)[n], keyed(n).n) end
local function arith(n)
  if n <= 0 then return 1 end
  return -arith(n - 1) + (n % 3 == 0 and arith(n - 2) * 0.5 or ~arith(n - 3) // 1 | 0)
end
for n = 0, 2 do io.write(tostring(arith(n)), " ") end
for n = 3, 9 do
  local ok, v = pcall(arith, n)
  io.write(tostring(ok), " ", ok and tostring(v) or v:match("[^:]*$"), " ")
end
print()
