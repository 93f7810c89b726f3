-- Variable arguments through calls of all kinds: many, none, with nils, in closures, in frames that grow.
local function count(...) return select("#", ...) end
local function sum(...)
  local s = 0
  for i = 1, select("#", ...) do
    local v = select(i, ...)
    s = s + (v or 0.5)
  end
  return s
end
local function through(f, ...) return f(...) end
local function twice(...) return pcall(through, sum, ...) end
local function shift(a, ...) if a == nil and count(...) == 0 then return 0 end return 1 + shift(...) end
local function capture(...)
  local a, b = ...
  local n = count(...)
  local function get() a = (a or 0) + n return a, b end
  local packed = { ... }
  return get, #packed
end
local total = 0
for i = 1, 50 do
  local list = {}
  for k = 1, i * 5 % 37 do list[k] = k end
  local n = #list
  total = total + count(table.unpack(list)) + select(2, twice(table.unpack(list)))
  total = total + select(2, twice(nil, i, nil)) + count(through(table.unpack, list, 1, n + 2))
  total = total + shift(table.unpack(list, 1, n % 9))
  local get, m = capture(table.unpack(list))
  get()
  local a, b = get()
  total = total + a + (b or 0) + m
end
print(total)
-- The main chunk's own, and those of a function that yields and throws between them.
local function worker(...)
  local s = 0
  for i = 1, 20 do
    local a, b, c = ...
    s = s + (a or 1) + (b or 2) + (c or 3) + count(...)
    local ok, v = pcall(function(...)
      if i % 4 == 0 then error(count(...), 0) end
      return coroutine.yield(...)
    end, ...)
    s = s + (v or 0)
  end
  return "end", s
end
for n = 0, 5 do
  local co = coroutine.wrap(worker)
  local values = table.pack(co(table.unpack({ 1, 2, 3, 4, 5 }, 1, n)))
  local steps = 0
  while values[1] ~= "end" do
    steps = steps + values.n
    values = table.pack(co(steps % 7))
  end
  print(n, steps, values[2])
end
local big = {}
for i = 1, 250 do big[i] = i end
local function last(...) return (select(-1, ...)) end
local function nested(depth, ...)
  if depth == 0 then return last(...) + count(...) end
  local x = nested(depth - 1, depth, ...)
  return x + ((...) or 0)
end
for i = 1, 25 do
  total = total + last(table.unpack(big, 1, i * 10)) + nested(i % 12, table.unpack(big, 1, i * 8))
  total = total + count(string.byte(("x"):rep(i * 9), 1, -1)) + math.max(table.unpack(big, 1, i))
end
print(total)
