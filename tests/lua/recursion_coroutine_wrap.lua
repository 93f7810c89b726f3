-- Recursion through coroutine.wrap: generators of trees in order, sieves that are chained, each level a
-- coroutine that resumes the next; some are left half way.
local function insert(t, k)
  if not t then return { k = k } end
  if k < t.k then t.left = insert(t.left, k) elseif k > t.k then t.right = insert(t.right, k) end
  return t
end
local function inorder(t)
  return coroutine.wrap(function()
    if t.left then for k in inorder(t.left) do coroutine.yield(k) end end
    coroutine.yield(t.k)
    if t.right then for k in inorder(t.right) do coroutine.yield(k) end end
  end)
end
local function visit(t)
  if t then
    visit(t.left)
    coroutine.yield(t.k)
    visit(t.right)
  end
end
for n = 5, 45, 10 do
  local t
  for i = 1, n do t = insert(t, i * 37 % 101 + (i % 3 == 0 and 0.5 or 0)) end
  local a, b, same = {}, 0, true
  for k in inorder(t) do a[#a + 1] = k end
  for k in coroutine.wrap(visit), t do
    b = b + 1
    same = same and a[b] == k
  end
  print(n, b, same, table.concat(a, " ", 1, 5), a[b])
end

-- A sieve of coroutines, one for each prime.
local function numbers(n)
  return coroutine.wrap(function() for i = 2, n do coroutine.yield(i) end end)
end
local function without(p, source)
  return coroutine.wrap(function()
    for n in source do
      if n % p ~= 0 then coroutine.yield(n) end
    end
  end)
end
local source, primes = numbers(150), {}
for k = 1, 25 do
  local p = source()
  primes[k] = p
  source = without(p, source)
end
print(table.concat(primes, " "))

-- A coroutine inside a coroutine, down to a depth; values go up and down through all of them.
local function pass(n)
  if n == 0 then
    local sum = 0
    while true do
      local x = coroutine.yield(sum)
      if not x then return "bottom", sum end
      sum = sum + x
    end
  end
  local inner = coroutine.wrap(pass)
  local out, extra = inner(n - 1)
  while extra == nil do
    local x = coroutine.yield(out)
    if x and n == 3 then x = x + 0.5 end
    out, extra = inner(x)
  end
  return out .. n, extra
end
for n = 0, 8, 2 do
  local co = coroutine.wrap(pass)
  co(n)
  local last
  for i = 1, 60 do last = co(i) end
  print(n, last, co(nil))
end

-- Errors in the innermost one come out through all of them.
local function fail(n)
  if n == 0 then error({ code = 7 }) end
  return coroutine.wrap(fail)(n - 1)
end
for n = 0, 20, 5 do
  local ok, e = pcall(fail, n)
  print(n, ok, type(e) == "table" and e.code)
end
local function fail_text(n)
  if n == 0 then return nil + 1 end
  local r = coroutine.wrap(fail_text)(n - 1)
  return r
end
for n = 0, 3 do print(n, pcall(fail_text, n)) end
local dead = coroutine.wrap(function() return 1 end)
print(dead(), pcall(dead))
