-- Loops with captured variables that are left by break, return and errors, in the first iteration, the last
-- and in between; the closure that was made last sees what the frame did before it left.
local function first_match(t, want)
  local result
  for i = 1, #t do
    local v = t[i]
    result = function(d) v = v + d return v, i end
    if v == want then break end
    v = v + 0.5
  end
  return result
end
local t = {}
for i = 1, 64 do t[i] = i * 3 % 67 end
for i = 1, 64, 9 do
  local f = first_match(t, t[i])
  f(1)
  print(i, f(2))
end
print(first_match(t, -1)(0))
print(first_match({}, 1))

local function scan(n, stop)
  local seen = {}
  local count = 0
  local i = 0
  while true do
    local x = i
    local function add() count = count + x x = x + 1 return count end
    if i % 3 == 0 then seen[#seen + 1] = add end
    if i == stop then
      x = 1000
      if stop % 2 == 0 then break end
      return add(), add(), seen
    end
    add()
    i = i + 1
    if i > n then return -1, 0, seen end
  end
  return count, i, seen
end
for stop = 0, 70, 7 do
  local a, b, seen = scan(60, stop)
  local s = 0
  for _, f in ipairs(seen) do s = s + f() end
  print(stop, a, b, #seen, s)
end

-- Two loops deep: the inner break keeps the outer variable open.
local function inner_breaks(n)
  local fs = {}
  for i = 1, n do
    local row = 0
    for j = 1, n do
      local cell = i * j
      if cell > 2 * n then break end
      row = row + cell
      if (i + j) % 4 == 0 then
        fs[#fs + 1] = function() cell = cell + row row = row + 1 return cell end
        if j > i then break end
      end
    end
    row = row * 2
    if i > 3 and row == 0 then break end
  end
  local s = 0
  for round = 1, 2 do for k, f in ipairs(fs) do s = s + f() * k end end
  return s, #fs
end
for n = 2, 20, 3 do print(n, inner_breaks(n)) end

-- Left by an error that is caught outside; the closure stays.
local escape
local function erring(n, at)
  local total = 0
  for i = 1, n do
    local x = i
    escape = function() x = x + total return x end
    total = total + x
    x = x * 10
    if i == at then local bad = t[i].field.x end
    x = x + 1
  end
  return total
end
for at = 1, 50, 7 do
  local ok, e = pcall(erring, 45, at)
  print(at, ok, e, escape(), escape())
end

-- A loop that is entered and left at once, in a hot loop; its variable is captured only in the end.
local last
local function quick(k)
  for i = k, k + 3 do
    local x = i
    if k % 97 == 0 then last = function() return x end end
    if i % 2 == 0 then break end
    x = x + 0.5
  end
  return last and last() or 0
end
local s = 0
for k = 1, 600 do s = s + quick(k) end
print(s, last())
local function numeric(limit)
  local f
  for i = limit, 1, -1 do
    f = function() i = i - 1 return i end
    f()
    if i * i < limit then break end
  end
  return f and f()
end
for limit = 0, 200, 25 do print(limit, numeric(limit)) end
