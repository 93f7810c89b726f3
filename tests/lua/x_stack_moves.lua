-- The stack is moved and frames added while loops run: deep calls from loops, many results, big frames, coroutines that grow.
local function deep(n, ...) if n == 0 then return select("#", ...) end return (deep(n - 1, n, ...)) end
local s = 0
for i = 1, 60 do
  local a, b, c = i, i * 2, i * 0.5
  if i % 20 == 0 then s = s + deep(i) end
  s = s + a + b + c
end
print(s)
local function sum(n) local t = 0 for i = 1, n do t = t + i end return t end
local function at_depth(n) if n == 0 then return sum(60) end local r = at_depth(n - 1) return r + 1 end
local d = 0
for i = 1, 12 do d = d + at_depth(i * 12) end
print(d)
local big = {}
for i = 1, 240 do big[i] = i end
local u = 0
for i = 1, 60 do
  local a, b, c = table.unpack(big, i, i + 150)
  u = u + a + b + c + select("#", table.unpack(big))
end
print(u)
local function wide()
  local a1, a2, a3, a4, a5, a6, a7, a8, a9, a10 = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
  local b1, b2, b3, b4, b5, b6, b7, b8, b9, b10 = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
  local c1, c2, c3, c4, c5, c6, c7, c8, c9, c10 = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
  for i = 1, 60 do
    a1, b2, c3 = a1 + b2, b2 - c3, c3 + a1
    a10, b10, c10 = c1 + a2, a3 + b3, b4 + c4
    if i % 25 == 0 then a5, b5, c5 = a1 * 0.5, b2 | 0, "c" .. i end
    a1 = a1 % 1000; b2 = b2 % 1000; c3 = c3 % 1000
  end
  return a1, b2, c3, a10, b10, c10, a5, b5, c5, a4 + b6 + c7 + a8 + b9 + c2 + b7 + a6 + a7 + a9 + b1 + b8 + c6 + c8 + c9
end
print(wide())
local co = coroutine.wrap(function(n)
  local t = 0
  for i = 1, n do
    t = t + i
    if i % 20 == 0 then t = t + at_depth(i); coroutine.yield(t) end
  end
  return "end", t
end)
print(co(70), co(), co(), co())
local function results(n) if n == 0 then return end return n, results(n - 1) end
local r = 0
for i = 1, 60 do local t = { results(i % 20) }; r = r + #t + (t[1] or 0) end
print(r)
local function overflow(n) local a, b, c, e = n, n, n, n; return overflow(n + 1) + a + b + c + e end
local ok = 0
for i = 1, 1 do
  if not pcall(overflow, 1) then ok = ok + 1 end
  local t = 0
  for j = 1, 60 do t = t + j end
  ok = ok + t
end
print(ok)
local nested = 0
local function in_pcall(n) for i = 1, 30 do nested = nested + 1 end if n > 0 then pcall(in_pcall, n - 1) end end
in_pcall(60)
print(nested)
print(pcall(string.rep, "x", -1), select("#", table.unpack({}, 1, 100)), pcall(table.unpack, {}, 1, 1e7))
