-- Closures over arguments: of fixed parameters, of parameters that were not given, of self, of parameters
-- that are assigned before and after they are captured, and of those of a vararg function.
local function make(a, b, c)
  local f = function() return a, b, c end
  a = (a or 0) + 1
  local g = function(x) b = x return a end
  if c then c = c * 2 end
  return f, g, function() c = (c or 0.5) + 1 return c end
end
for i = 1, 60 do
  local f, g, h = make(i, i % 2 == 0 and "b" or nil, i % 3 == 0 and i or nil)
  local x = g(i * 2)
  local y = h()
  if i % 10 == 0 then print(i, x, y, f()) end
end
print(select(2, make())("late"), select("#", make()()))

local function adder(n) return function(x) n = n + x return n end end
local adders = {}
for i = 1, 20 do adders[i] = adder(i % 4 == 0 and i + 0.5 or i) end
local sum = 0
for round = 1, 50 do
  for i = 1, 20 do sum = sum + adders[i](round % 3) end
end
print(sum, adders[1](0), adders[4](0))

local Account = {}
Account.__index = Account
function Account.new(balance) return setmetatable({ balance = balance }, Account) end
function Account:watcher(limit)
  local calls = 0
  return function(amount)
    calls = calls + 1
    self.balance = self.balance + amount
    if self.balance > limit then
      self = Account.new(0)
      limit = limit - 1
    end
    return self.balance, calls
  end
end
local account = Account.new(5)
local watch = account:watcher(50)
local line = {}
for i = 1, 80 do
  local b, calls = watch(i % 9)
  if i % 8 == 0 then line[#line + 1] = b .. "/" .. calls end
end
print(table.concat(line, " "), account.balance)

local function compose(...)
  local fs, n = { ... }, select("#", ...)
  return function(...)
    local r = fs[n](...)
    for i = n - 1, 1, -1 do r = fs[i](r) end
    return r
  end
end
local function partial(f, a) return function(...) return f(a, ...) end end
local function flip(f) return function(a, b, ...) return f(b, a, ...) end end
local function sub(a, b) return a - b end
local inc, half, text = partial(function(a, b) return a + b end, 1), function(x) return x / 2 end, tostring
local all = { compose(inc), compose(inc, half), compose(text, half, inc), compose(flip(sub)) }
all[5] = compose(inc, inc, sub)
sum = 0
for i = 1, 100 do
  for k, f in ipairs(all) do sum = sum + f(i, k) end
end
print(sum, all[3](5), all[4](1, 10), partial(partial(sub, 10), 3)(), flip(partial)(5, sub)(1))

-- Parameters that are captured by one path only, and changed by the other.
local function sometimes(n, x)
  if n % 3 == 0 then
    local f = function() x = x + n return x end
    f()
    n = n + 1
    return f() + x
  end
  x = x - 1
  return x
end
local s = 0
for i = 1, 600 do s = s + sometimes(i % 10, i) + sometimes(i % 6, 0.5) end
print(s)
local function recursive(n, f)
  if n == 0 then return f(0) end
  local r = recursive(n - 1, function(x) n = n + 1 return f(x + n) end)
  return r + n
end
for n = 0, 40, 8 do print(n, recursive(n, function(x) return x end)) end
