-- Three functions in a circle, and a grammar of three levels: terms, factors and sums; each function is also
-- entered from outside, and one of them is replaced half way.
local a, b, c
function a(n, acc) if n <= 0 then return acc end return b(n - 1, acc + 1) end
function b(n, acc)
  if n <= 0 then return acc * 2 end
  local r = c(n - 2, acc + 10)
  return r
end
function c(n, acc) if n <= 0 then return acc * 3 end return 1 + a(n - 1, acc + 100) end
for n = 0, 60, 7 do print(n, a(n, 0), b(n, 0), c(n, 0)) end

local sum
local s, at
local function peek() return s:byte(at) end
local function factor()
  local ch = peek()
  if ch == 40 then
    at = at + 1
    local v = sum()
    at = at + 1
    return v
  elseif ch == 45 then
    at = at + 1
    return -factor()
  end
  local v = 0
  while ch and ch >= 48 and ch <= 57 do
    v = v * 10 + ch - 48
    at = at + 1
    ch = peek()
  end
  return v
end
local function term()
  local v = factor()
  while true do
    local ch = peek()
    if ch == 42 then at = at + 1 v = v * factor()
    elseif ch == 47 then at = at + 1 v = v / factor()
    elseif ch == 37 then at = at + 1 v = v // factor()
    else return v end
  end
end
function sum()
  local v = term()
  while true do
    local ch = peek()
    if ch == 43 then at = at + 1 v = v + term()
    elseif ch == 45 then at = at + 1 v = v - term()
    else return v end
  end
end
local function value(text)
  s, at = text, 1
  local v = sum()
  return at > #s and v or "rest at " .. at
end
local list = {
  "1+2*3", "(1+2)*3", "-4*-(2-5)", "10/4", "10%4", "((((7))))", "2*(3+4*(5-6*(7+8)))", "1-2-3-4", "8/2/2",
  "1/0", "-1/0", "5-", "3)", "(2*3)-(4/(1-(3-2)))", "12345678901234567890",
  "99*99*99*99*99*99*99*99*99*99*99",
}
for round = 1, 12 do
  for _, text in ipairs(list) do
    local ok, v = pcall(value, text)
    if round == 1 or round == 12 then print(text, ok, v) end
  end
end

-- One of the three is replaced while the recursion is in it.
local x, y, z
local log = {}
local function other(n) if n <= 0 then return 1000 end return x(n - 1) + 7 end
function x(n) if n <= 0 then return 0 end return y(n - 1) + 1 end
local function plain(n) if n <= 0 then return 100 end return z(n - 1) + 2 end
y = plain
function z(n)
  if n <= 0 then return 10 end
  if n % 17 == 0 then y = y == plain and other or plain end
  return x(n - 1) + 3
end
for n = 1, 120 do
  log[#log + 1] = x(n) + (y == plain and 0.5 or 0)
  if n % 20 == 0 then print(table.concat(log, " ")) log = {} end
end
