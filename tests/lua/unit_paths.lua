-- Many ways through a recursive function: goto, and/or, returns of several kinds, early and late, comparisons
-- of all kinds, nested tests; small functions, which are taken into themselves, and large ones.
local function ways(n, x)
  if n == 0 then goto done end
  if n % 2 == 0 then goto even end
  x = x + 1
  if x > 50 then return x - 50 end
  do return (ways(n - 1, x)) end
  ::even::
  x = x * 2
  if x > 100 then do return ways(n - 2, x - 100) + 1 end end
  do return (ways(n - 1, x)) end
  ::done::
  return x
end
local function logic(n, a, b)
  local r = n > 0 and logic(n - 1, b, a and n) or (a or b)
  return r == nil and "nil" or r and (n % 3 ~= 0 and r or not r and 1 or 2)
end
local function compare(n, x)
  if n < 1 then return 0
  elseif n == 5 then return 1 + compare(n - 1, x)
  elseif n >= 12.5 then return 2 + compare(n - 2, x)
  elseif n ~= 7 and n <= x then return 3 + compare(n - 1, x - 1)
  elseif x == "s" then return 4 + compare(n - 1, n)
  elseif not x then return 5 + compare(n - 3, true)
  else return 6 + compare(n - 1.0, x) end
end
local function text(v) return tostring(v) end
for i = 0, 24 do
  print(i, ways(i, 1), ways(i, 1.5), text(logic(i, nil, false)), text(logic(i, true)), text(logic(i, 1, 2)),
        compare(i, 3), compare(i, 100), compare(i + 0.5, 2.5))
  print(select(2, pcall(compare, i, "s")), select(2, pcall(compare, i)))
end
local function small(n) return n > 0 and small(n - 1) + 1 or 0 end
local function smaller(n) if n > 0 then smaller(n - 1) end end
local function two(n) if n < 2 then return 1 end return two(n - 1) + two(n - 2) end
local function three(n) if n < 3 then return n end return three(n - 1) + three(n - 2) + three(n - 3) end
local function down(n, s) if n == 0 then return s end return (down(n - 1, s + n)) end
local function nested(n) if n > 100 then return n - 10 end return nested(nested(n + 11)) end
for i = 0, 14 do
  print(i, small(i), smaller(i), two(i), three(i), down(i, 0), down(i, 0.5), nested(i + 90))
end
print(small(1000), smaller(1000), two(15.0), three(10.0), down(1000, 0), nested(1), nested(1.5))
local function bits(n) if n == 0 then return 0 end return (n & 1) + bits(n >> 1) end
local function reverse(n, r) if n == 0 then return r end return (reverse(n >> 1, r << 1 | n & 1)) end
for _, n in ipairs { 0, 1, 255, 1 << 40, -1, math.mininteger, 12345 } do print(n, bits(n), reverse(n, 0)) end
