-- Recursion that is suspended at every depth, and what a coroutine does after it was resumed.
local function walk(n) if n > 0 then walk(n - 1) coroutine.yield(n) walk(n - 1) end end
local sum, count = 0, 0
for n in coroutine.wrap(function() walk(8) end) do sum = sum * 3 % 1000003 + n count = count + 1 end
print(sum, count)
local function permute(a, n)
  if n == 0 then coroutine.yield(a) return end
  for i = 1, n do
    a[i], a[n] = a[n], a[i]
    permute(a, n - 1)
    a[i], a[n] = a[n], a[i]
  end
end
local total = 0
for a in coroutine.wrap(function() permute({ 1, 2, 3, 4, 5, 6 }, 6) end) do total = total + a[1] * a[3] - a[6] end
print(total)
-- Work on both sides of a yield.
local function producer(limit)
  local x = 1
  for i = 1, limit do
    x = (x * 31 + i) % 1009
    local back = coroutine.yield(x)
    x = x + (back and #back or 1)
    if x % 17 == 0 then x = x * 2 end
  end
  return "done"
end
local function consume(limit, answer)
  local co = coroutine.create(producer)
  local ok, value = coroutine.resume(co, limit)
  local s = 0
  while coroutine.status(co) ~= "dead" do
    s = (s * 7 + value) % 100003
    ok, value = coroutine.resume(co, s % 3 == 0 and answer or nil)
  end
  return s, ok, value
end
for round = 1, 6 do print(consume(150 + round, ("x"):rep(round))) end
-- Many at once, of which some are dropped.
local alive = {}
for i = 1, 40 do
  alive[i] = coroutine.wrap(function(a)
    local b = a
    while true do
      a = coroutine.yield(a + b)
      b = b + (a % 5)
      if b > 60 then b = b .. "" end
    end
  end)
end
local s = 0
for round = 1, 30 do
  for i = 1, 40 do s = s + alive[i](round + i) if (i + round) % 37 == 0 then alive[i] = alive[i % 40 + 1] end end
end
print(s)
-- An error after it was resumed.
local co = coroutine.wrap(function()
  for i = 1, 100 do local v = coroutine.yield(i) if v == 77 then v = v .. nil end end
end)
co()
for i = 1, 90 do local ok, e = pcall(co, i) if not ok then print(i, (e:gsub("^.-:", ""))) break end end
