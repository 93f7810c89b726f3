-- Recursion through __index and __newindex: chains of tables, functions that ask the next object, values that
-- are computed on demand and kept, and a chain that becomes longer while it is walked.
local function chain(n, last)
  local t = last
  for i = 1, n do
    local below = t
    if i % 3 == 0 then
      t = setmetatable({ [i] = "own" .. i }, { __index = function(_, k) return below[k] end })
    else
      t = setmetatable({ [i] = "own" .. i }, { __index = below })
    end
  end
  return t
end
local bottom = { x = 1, y = 2.5 }
local chains = {}
for n = 0, 12 do chains[n] = chain(n, bottom) end
local sum = 0
for round = 1, 60 do
  for n = 0, 12 do
    local t = chains[n]
    sum = sum + t.x + t.y
    if t.z then sum = sum + 1000 end
    if t[round % 12 + 1] then sum = sum + n end
  end
  if round == 20 then bottom.x = 1.25 end
  if round == 40 then bottom.z = true end
  if round % 20 == 0 then print(round, sum, chains[12].z, chains[7][2], chains[7][9]) end
end

local fib = setmetatable({ [0] = 0, 1 }, { __index = function(t, n)
  local v = t[n - 1] + t[n - 2]
  t[n] = v
  return v
end })
print(fib[10], fib[30], fib[60], fib[92], fib[95])
local calls = 0
local nokeep = setmetatable({}, { __index = function(t, n)
  calls = calls + 1
  if n < 2 then return n end
  return t[n - 1] + t[n - 2]
end })
for n = 1, 13 do io.write(nokeep[n], ":", calls, " ") end
print()

-- Stores go down until somebody takes them.
local stores = {}
local function store_chain(n)
  local t = setmetatable({}, { __newindex = function(t, k, v)
    stores[#stores + 1] = k
    rawset(t, k, v)
  end })
  for i = 1, n do
    local below = t
    t = setmetatable({}, { __index = below, __newindex = i % 2 == 0 and below or function(_, k, v)
      below[k] = v + 1
    end })
  end
  return t
end
for n = 0, 10 do
  local t = store_chain(n)
  for i = 1, 30 do
    t[i] = i * 2
    t[i] = i + (i % 7 == 0 and 0.5 or 0)
  end
  local s = 0
  for i = 1, 30 do s = s + t[i] end
  print(n, #stores, s)
end

-- A name that is looked up through levels of scopes, with a scope added in the middle.
local function scope(outer, names) return setmetatable(names, { __index = outer }) end
local function lookup(s, name, n)
  if n == 0 then return s[name] end
  local inner = scope(s, n == 5 and { a = "five" } or { [n] = n })
  local v = lookup(inner, name, n - 1)
  return v
end
local text = {}
for n = 1, 40 do text[n] = tostring(lookup({ a = n }, n % 2 == 0 and "a" or "b", n % 9)) end
print(table.concat(text, " "))
print(pcall(function() return lookup(setmetatable({}, { __index = error }), "name", 4) end))
