-- An error in a metamethod, or in an iterator, of a function that 'pcall' has called is that 'pcall's: the
-- loop takes all of it in, and is left inside, where what is left of the metamethod runs.
local function counts(name, body)
  local good, bad, last = 0, 0, nil
  for i = 1, 400 do
    local ok, message = pcall(body, i)
    if ok then good = good + 1 else bad, last = bad + 1, message end
  end
  print(name, good, bad, last)
end

local function fails(a, b)
  local n = type(b) == "number" and b or type(a) == "number" and a or a.n
  if n % 50 == 0 then error("bad " .. n, 0) end
  return n
end

local object = setmetatable({ n = 1 }, {
  __add = fails, __lt = fails, __le = fails, __concat = fails, __idiv = fails, __band = fails, __shl = fails,
  __index = function(_, key) return fails(key, key) end,
  __newindex = function(_, key, value) return fails(key, value) end,
  __call = function(_, n) return fails(n, n) end,
  __unm = function(a) return fails(a.n, a.n) end,
  __len = function(a) return fails(a.n, a.n) end,
  __bnot = function(a) return fails(a.n, a.n) end,
  __eq = function(a, b) return fails(a.n, b.n) == 1 end,
})
counts("add", function(i) return object + i end)
counts("less", function(i) return object < i end)
counts("less or equal", function(i) return i <= object end)
counts("concat", function(i) return object .. i end)
counts("idiv", function(i) return object // i end)
counts("band", function(i) return object & i end)
counts("shl", function(i) return object << i end)
counts("index", function(i) return object[i] end)
counts("newindex", function(i) object[i] = i end)
counts("call", function(i) return object(i) end)
counts("minus", function(i) rawset(object, "n", i) return -object end)
counts("length", function(i) rawset(object, "n", i) return #object end)
counts("not", function(i) rawset(object, "n", i) return ~object end)
local other = setmetatable({ n = 1 }, getmetatable(object))
counts("equal", function(i) rawset(other, "n", i) return object == other end)

local function iterator(limit, n)
  if n == 3 and limit % 50 == 0 then error("bad iterator " .. limit, 0) end
  if n < 5 then return n + 1 end
end
counts("iterator", function(i)
  local sum = 0
  for n in iterator, i, 0 do sum = sum + n end
  return sum
end)

-- The inner one catches, with other levels between, and the outer one sees what the inner one gives back.
rawset(object, "n", 1)
local outer = 0
for i = 1, 400 do
  local ok, inner, message = pcall(function()
    local twice = setmetatable({}, { __add = function(_, n)
      local ok, message = pcall(function() return object + n end)
      if not ok and n % 100 == 0 then error(message .. " again", 0) end
      return ok and n or message
    end })
    return true, twice + i
  end)
  if not ok then outer = outer + 1 end
  if i % 50 == 0 then print(i, ok, inner, message) end
end
print("outer", outer)

-- The outer 'pcall' does not see it.
print(pcall(function()
  local good, bad = 0, 0
  for i = 1, 400 do
    if pcall(function() return object < i end) then good = good + 1 else bad = bad + 1 end
  end
  return good, bad
end))

-- The same where the thread may yield, and where it may not although it is a coroutine.
local run = coroutine.wrap(function()
  counts("coroutine", function(i) return object + i end)
  table.sort({ 2, 1 }, function(a, b)
    counts("in a sort in a coroutine", function(i) return object + i end)
    return a < b
  end)
  return "end"
end)
print(run())

-- What was closed, and what the message is, where to-be-closed variables lie above.
local closed = 0
counts("closed", function(i)
  local c <close> = setmetatable({}, { __close = function(_, e) closed = closed + (e and 1 or 0) end })
  return object + i
end)
print("closed", closed)
