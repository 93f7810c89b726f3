-- Coroutines as generators in hot loops: producers, filters, permutations, errors inside, values sent in, many at once.
local function range(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield(i, i * i) end end) end
local s = 0
for i, q in range(150) do s = s + i + q end
print(s)
local function filter(p, g) return coroutine.wrap(function() for v in g do if p(v) then coroutine.yield(v) end end end) end
local function map(f, g) return coroutine.wrap(function() for v in g do coroutine.yield(f(v)) end end) end
local t = 0
for v in map(function(x) return x * 0.5 end, filter(function(x) return x % 3 == 0 end, range(120))) do t = t + v end
print(t)
local function permutations(a, n)
  if n <= 1 then coroutine.yield(a) else
    for i = 1, n do
      a[n], a[i] = a[i], a[n]
      permutations(a, n - 1)
      a[n], a[i] = a[i], a[n]
    end
  end
end
local c, sum = 0, 0
for p in coroutine.wrap(function() permutations({ 1, 2, 3, 4, 5 }, 5) end) do
  c = c + 1
  sum = (sum * 7 + p[1] * 10000 + p[2] * 1000 + p[3] * 100 + p[4] * 10 + p[5]) % 1000003
end
print(c, sum)
local account = coroutine.create(function(start)
  local total, d = start, nil
  while true do
    d = coroutine.yield(total)
    if d == "stop" then return "closed", total end
    total = total + d
  end
end)
coroutine.resume(account, 10)
local last
for i = 1, 100 do local _, v = coroutine.resume(account, i); last = v end
print(last, coroutine.resume(account, "stop"))
print(coroutine.status(account), coroutine.resume(account))
local fails = 0
for i = 1, 60 do
  local co = coroutine.create(function(x) for k = 1, x do if k == 40 then error({ k = k }) end end return x end)
  local ok, e = coroutine.resume(co, i)
  if ok then fails = fails + e else fails = fails + 10000 + e.k end
end
print(fails)
local workers, log = {}, {}
for i = 1, 5 do
  workers[i] = coroutine.create(function()
    local x = 0
    for k = 1, 10 * i do x = x + k * i; if k % 5 == 0 then coroutine.yield(x) end end
    return "done" .. i
  end)
end
local alive = 5
while alive > 0 do
  for i = 1, 5 do
    if coroutine.status(workers[i]) ~= "dead" then
      local _, v = coroutine.resume(workers[i])
      log[#log + 1] = v
      if coroutine.status(workers[i]) == "dead" then alive = alive - 1 end
    end
  end
end
print(table.concat(log, " "))
print(pcall(coroutine.wrap(function() local q = 0 for i = 1, 80 do q = q + (i < 80 and i or nil) end end)))
-- A yield across a metamethod and an iterator.
local mt = { __add = function(a, b) return coroutine.yield("add", b) end, __index = function(_, k) return coroutine.yield("index", k) end }
local co = coroutine.wrap(function()
  local o, r = setmetatable({}, mt), 0
  for i = 1, 50 do r = r + (o + i) + o[i] end
  return "end", r
end)
local kind, v = co()
local n = 0
while kind ~= "end" do n = n + 1; kind, v = co(v * 2) end
print(n, v)
