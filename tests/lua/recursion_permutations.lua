-- Generators by coroutines that recurse: permutations, compositions, moves of Hanoi's towers, words of a
-- grammar; yields at each depth, from plain recursion and through a protected call.
local function permgen(a, n)
  n = n or #a
  if n <= 1 then
    coroutine.yield(a)
  else
    for i = 1, n do
      a[n], a[i] = a[i], a[n]
      permgen(a, n - 1)
      a[n], a[i] = a[i], a[n]
    end
  end
end
local function permutations(a)
  local co = coroutine.create(function() permgen(a) end)
  return function()
    local ok, value = coroutine.resume(co)
    return value
  end
end
for n = 1, 5 do
  local a = {}
  for i = 1, n do a[i] = string.char(96 + i) end
  local count, out = 0, {}
  for p in permutations(a) do
    count = count + 1
    if count % 10 == 1 then out[#out + 1] = table.concat(p) end
  end
  print(n, count, table.concat(out, " "))
end

local function compositions(n, prefix)
  if n == 0 then return coroutine.yield(prefix) end
  for i = 1, n do compositions(n - i, prefix .. i) end
end
for n = 1, 7 do
  local count, last = 0, nil
  for c in coroutine.wrap(compositions), n, "" do
    count = count + 1
    last = last and (c > last and c or last) or c
    if c == "" then break end
  end
  print(n, count, last)
end

local function hanoi(n, from, to, via)
  if n > 0 then
    hanoi(n - 1, from, via, to)
    coroutine.yield(n, from, to)
    hanoi(n - 1, via, to, from)
  end
end
for n = 1, 7 do
  local moves, sum = 0, 0
  local pegs = { {}, {}, {} }
  for i = n, 1, -1 do table.insert(pegs[1], i) end
  for disc, from, to in coroutine.wrap(function() hanoi(n, 1, 3, 2) end) do
    local d = table.remove(pegs[from])
    assert(d == disc)
    table.insert(pegs[to], d)
    moves = moves + 1
    sum = (sum * 7 + disc * 9 + from * 3 + to) % 1000003
  end
  print(n, moves, sum, #pegs[1], #pegs[2], #pegs[3])
end

-- Yields through pcall at each depth; some levels fail after they have been resumed.
local function guarded(n)
  local x = coroutine.yield("down" .. n)
  if n == 0 then
    if x == "fail" then error("asked to", 0) end
    return x
  end
  local ok, v = pcall(guarded, n - 1)
  coroutine.yield((ok and "up" or "caught") .. n)
  if not ok and n % 2 == 0 then error(v .. n, 0) end
  return tostring(v) .. n
end
for n = 0, 6 do
  for _, word in ipairs { "go", "fail" } do
    local co = coroutine.create(guarded)
    local out, ok, v = {}, coroutine.resume(co, n)
    while coroutine.status(co) == "suspended" do
      out[#out + 1] = v
      ok, v = coroutine.resume(co, word)
    end
    print(n, word, ok, v, table.concat(out, " "))
  end
end

-- A generator that is left half way and another one that goes on with its array.
local a = { 1, 2, 3, 4 }
local first = coroutine.wrap(permgen)
for i = 1, 7 do first(a) end
local second, seen = coroutine.wrap(permgen), {}
for i = 1, 5 do seen[i] = table.concat(second(a)) end
for i = 6, 10 do seen[i] = table.concat(first()) .. table.concat(second()) end
print(table.concat(seen, " "))
