-- Closures that outlive their frame: counters, lists of functions, callbacks stored in tables and coroutines.
local function account(balance)
  local history = 0
  return {
    put = function(x) balance = balance + x history = history + 1 return balance end,
    take = function(x)
      if x > balance then return nil, "short by " .. x - balance end
      balance = balance - x
      history = history + 1
      return balance
    end,
    state = function() return balance, history end,
  }
end
local accounts = {}
for i = 1, 25 do
  local a = account(i)
  a.put(i * 2)
  if i % 3 == 0 then a.take(i) end
  accounts[i] = a
end
local failed, last = 0, nil
for round = 1, 8 do
  for i = 1, #accounts do
    local ok, why = accounts[i].take((round * i) % 17)
    if not ok then failed = failed + 1 last = why end
    if i > 1 then accounts[i - 1].put(1) end
  end
end
local b, h = 0, 0
for i = 1, #accounts do
  local x, y = accounts[i].state()
  b, h = b + x, h + y
end
print(b, h, failed, last)
-- The frame goes on with the variable after the closure escaped into a table and a coroutine.
local callbacks = {}
local function register(f) callbacks[#callbacks + 1] = f end
local function emit(x) for k = 1, #callbacks do callbacks[k](x) end end
local function session(n)
  local state, calls = "idle", 0
  register(function(x) calls = calls + 1 state = x > 5 and "busy" or x end)
  local co = coroutine.wrap(function() while true do state = state .. "!" coroutine.yield(calls) end end)
  local trail = {}
  for i = 1, n do
    emit(i)
    co()
    trail[i] = state
    if i % 4 == 0 then state = "reset" calls = calls * 2 end
  end
  callbacks[#callbacks] = nil
  return table.concat(trail, ","), calls
end
for i = 1, 6 do print(session(6 + i * 2)) end
-- Chains: each closure holds the one before.
local chain = function(x) return x end
for i = 1, 20 do
  local before = chain
  local uses = 0
  chain = function(x) uses = uses + 1 return before(x) + uses end
end
local r = {}
for i = 1, 10 do r[i] = chain(i) end
print(table.concat(r, " "))
