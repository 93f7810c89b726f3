-- Arguments of functions that call themselves: missing, too many, nil, booleans, integers where there were
-- floats, and all in turn.
local function three(n, a, b)
  if n == 0 then return a end
  if a == nil then return three(n - 1, b, n) , 1 end
  if b == nil then local r = three(n - 1, n) return r end
  local r = three(n - 1, b, a, n, n)
  return r
end
for i = 1, 30 do
  local n = i % 7
  print(i, three(n), three(n, 1), (three(n, nil, 2)), (three(n, 1, 2)), (three(n, 1, 2, 3)))
end

local function fewer(n, a, b, c)
  local count = (a ~= nil and 1 or 0) + (b ~= nil and 1 or 0) + (c ~= nil and 1 or 0)
  if n == 0 then return count end
  local r
  if n % 4 == 0 then r = fewer(n - 1)
  elseif n % 4 == 1 then r = fewer(n - 1, n)
  elseif n % 4 == 2 then r = fewer(n - 1, n, n + 0.5)
  else r = fewer(n - 1, n, nil, true) end
  return r + count
end
for n = 0, 40, 3 do io.write(fewer(n), " ", fewer(n, 1, 2, 3), "; ") end
print()

local function same(n, x)
  if n == 0 then return x end
  local r = same(n - 1, x)
  return r
end
for i = 1, 40 do
  local x
  if i % 5 == 0 then x = i elseif i % 5 == 1 then x = i + 0.0 elseif i % 5 == 2 then x = i > 20
  elseif i % 5 == 3 then x = "s" .. i end
  io.write(tostring(same(i % 9, x)), i % 10 == 0 and "\n" or " ")
end

local function halves(x, steps)
  if x < 1 then return steps end
  local r = halves(x / 2, steps + 1)
  return r
end
for i = 1, 12 do io.write(halves(i, 0), " ", halves(i * 1000.0, 0), " ", halves(2 ^ i, 0.0), " ") end
print()
local function logic(n, flag)
  if n == 0 then return flag end
  return (logic(n - 1, not flag))
end
for n = 1, 12 do
  io.write(tostring(logic(n, true)), " ", tostring(logic(n)), " ", tostring(logic(n, 0)), " ")
end
print()
