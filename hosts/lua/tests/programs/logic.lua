-- Conditions: and, or, not, comparisons as values, assignments in all orders.
local values = { false, 0, "", 3, 2.5, "z" }
local out = {}
for i = 1, #values do
  for j = 1, #values do
    local a, b = values[i], values[j]
    local c = a and b or not a
    local d = (a or b) and (b or a)
    local e = not (a and b) == (not a or not b)
    local f = a == b
    local g = a ~= b and "ne" or "eq"
    local h = (i < j) == (j > i) and i <= j or i >= j
    local k = nil and a or b
    out[#out + 1] = table.concat({ tostring(c), tostring(d), tostring(e), tostring(f), g, tostring(h), tostring(k) }, "")
  end
end
print(table.concat(out, " "))
local function classify(n)
  if n == 0 then return "zero" elseif n == 1.0 then return "one" elseif n < 0 then return "negative"
  elseif n > 1000 then return "huge" elseif n >= 100 then return "big" elseif n <= 5 then return "small" end
  return n % 2 == 0 and "even" or n % 3 == 0 and "three" or "odd"
end
local text = {}
for n = -2, 30 do text[#text + 1] = classify(n) end
for _, n in ipairs({ 1.0, 0.0, -0.5, 99.5, 100, 1001, 1000.5, 1000 }) do text[#text + 1] = classify(n) end
print(table.concat(text, " "))
local a, b, c, d = 1, 2, 3, 4
for i = 1, 25 do
  a, b, c, d = b, c, d, a
  if i % 5 == 0 then a, c = c, a end
  local t = { a, b }
  local p = 1
  p, t[p] = 2, d
  b = t[1] == d and b or "wrong"
  local q, r, s = (function() return a, b end)()
  d = s == nil and d or "wrong"
  a = q; b = r
end
print(a, b, c, d)
local nan = 0 / 0
for i = 1, 3 do print(nan == nan, nan < 1, nan >= 1, not (nan < i), 1 == 1.0, math.maxinteger + 0.0 == math.maxinteger, "1" == 1) end
local x
for i = 1, 20 do x = x == nil and i or x > 5 and x - 5 or x + i end
print(x)
