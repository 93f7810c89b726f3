-- Coroutines: generators, yields across pcall and metamethods, wrap in loops, errors inside, close.
local function numbers(n)
  return coroutine.wrap(function()
    for i = 1, n do
      local square = i * i
      coroutine.yield(i, square)
    end
    return nil
  end)
end
local total = 0
for i, square in numbers(60) do total = total + i + square end
print(total)
local function tree(depth) if depth > 0 then return { tree(depth - 1), depth, tree(depth - 1) } end end
local function walk(node)
  if node then
    walk(node[1])
    coroutine.yield(node[2])
    walk(node[3])
  end
end
local text = {}
for depth in coroutine.wrap(function() walk(tree(6)) end) do text[#text + 1] = depth end
print(table.concat(text))
local lazy = setmetatable({}, {
  __index = function(_, key) return coroutine.yield(key) end,
  __add = function(_, b) return coroutine.yield(b) + 1 end,
  __lt = function(_, b) return coroutine.yield(b) end,
  __concat = function(_, b) return coroutine.yield("c") .. tostring(b) end,
})
local co = coroutine.create(function(first)
  local result = first
  for i = 1, 10 do
    result = result + lazy[i]
    result = result + (lazy + i)
    if lazy < i then result = result + 100 end
    local joined = lazy .. i
    result = result + #joined
  end
  local ok, err = pcall(function()
    local got = coroutine.yield("inside")
    error("failed " .. tostring(got), 0)
  end)
  return result, ok, err
end)
local input = 5
while true do
  local results = table.pack(coroutine.resume(co, input))
  if coroutine.status(co) == "dead" then print(table.unpack(results, 1, results.n)) break end
  input = results[2]
  if input == "c" then input = "abc" elseif math.type(input) == "integer" then input = input * 3 end
end
for i = 1, 20 do
  local thread = coroutine.create(function(a)
    local b = coroutine.yield(a * 2)
    if b % 3 == 0 then error({ code = b }) end
    return a + b
  end)
  local _, doubled = coroutine.resume(thread, i)
  local ok, result = coroutine.resume(thread, i + 1)
  print(doubled, ok, type(result) == "table" and result.code or result)
end
local closed = 0
for i = 1, 15 do
  local thread = coroutine.wrap(function()
    local guard <close> = setmetatable({}, { __close = function() closed = closed + i end })
    for j = 1, i do coroutine.yield(j) end
  end)
  for _ = 1, i do thread() end
  if i % 2 == 0 then thread() end
end
local thread = coroutine.create(function() local x <close> = setmetatable({}, { __close = function() closed = closed + 1000 end }) coroutine.yield() end)
coroutine.resume(thread)
print(coroutine.close(thread), closed, coroutine.isyieldable(), select(2, coroutine.running()))
