-- A pool of resources with <close> and <const>: leases in hot loops, nested, given back on break, return, error and yield.
local Pool = {}
Pool.__index = Pool
local lease_meta = {
  __close = function(lease, problem)
    local pool <const> = lease.pool
    pool.free[#pool.free + 1] = lease.id
    pool.closed = pool.closed + 1
    if problem then pool.problems = pool.problems + 1 end
    lease.id = nil
  end
}
function Pool.new(n)
  local pool = setmetatable({ free = {}, closed = 0, problems = 0, most = 0, size = n }, Pool)
  for i = n, 1, -1 do pool.free[#pool.free + 1] = i end
  return pool
end
function Pool:lease()
  local id <const> = table.remove(self.free)
  if not id then error("pool is empty", 2) end
  local used <const> = self.size - #self.free
  if used > self.most then self.most = used end
  return setmetatable({ pool = self, id = id }, lease_meta)
end
local pool <const> = Pool.new(3)
local sum = 0
for i = 1, 100 do
  local lease <close> = pool:lease()
  sum = sum + lease.id * i
  if i % 9 == 0 then goto next end
  do
    local second <close> = pool:lease()
    sum = sum + second.id
  end
  ::next::
end
print(sum, pool.closed, pool.most, #pool.free)
local function find(limit)
  for i = 1, 50 do
    local lease <close> = pool:lease()
    if i * lease.id > limit then return i, lease.id end
  end
end
local found = 0
for limit = 1, 60 do
  local i, id = find(limit)
  found = found + (i or 100) + (id or 0)
end
print(found, pool.closed, #pool.free)
local failures = 0
for i = 1, 60 do
  local ok, message = pcall(function()
    local a <close> = pool:lease()
    local b <close> = pool:lease()
    if i % 4 == 0 then error("stop " .. i, 0) end
    local c <close> = pool:lease()
    if i % 6 == 0 then local d <close> = pool:lease() end
  end)
  if not ok then
    failures = failures + 1
    if i < 10 then print(message) end
  end
end
print(failures, pool.closed, pool.problems, #pool.free)
local co = coroutine.wrap(function()
  for i = 1, 40 do
    local lease <close> = pool:lease()
    coroutine.yield(lease.id + i)
  end
  return "end"
end)
local yielded, v = 0, nil
repeat
  v = co()
  if v ~= "end" then yielded = yielded + v end
until v == "end"
print(yielded, #pool.free)
local half = coroutine.create(function()
  local lease <close> = pool:lease()
  local inner <close> = setmetatable({}, { __close = function() error("inner", 0) end })
  coroutine.yield(#pool.free)
end)
print(coroutine.resume(half))
print(coroutine.close(half))
print(coroutine.status(half), #pool.free)
local function numbers(n)
  local guard = setmetatable({ closed = false }, { __close = function(g) g.closed = true end })
  return function(_, i) if i < n then return i + 1 end end, nil, 0, guard
end
local ended, guards = 0, {}
for round = 1, 30 do
  local step, state, first, guard = numbers(10)
  guards[round] = guard
  for i in step, state, first, guard do
    if i > round % 12 then break end
    ended = ended + i
  end
end
local closed = 0
for _, g in ipairs(guards) do if g.closed then closed = closed + 1 end end
print(ended, closed)
local order = {}
local function named(name) return setmetatable({}, { __close = function() order[#order + 1] = name end }) end
for i = 1, 12 do
  local a <close> = named("a" .. i)
  local b <close> = i % 3 == 0 and named("b" .. i) or nil
  local c <close> = i % 4 == 0 and false or named("c" .. i)
  if i % 5 == 0 then goto continue end
  order[#order + 1] = "-"
  ::continue::
end
print(table.concat(order, " "))
local scale <const>, offset <const>, name <const> = 3, 0.5, "k"
local t = 0
for i = 1, 80 do t = t + i * scale + offset + #(name .. i) end
print(t, load("local x <const> = 1; x = 2"))
print(pcall(function() local bad <close> = 42 end))
