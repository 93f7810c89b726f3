-- A cache that drops what was used least recently: a doubly linked list and a table, with limits, statistics and iteration.
local Cache = {}
Cache.__index = Cache
Cache.__len = function(c) return c.count end
function Cache.new(limit, on_drop)
  local first, last = {}, {}
  first.next, last.previous = last, first
  return setmetatable({ limit = limit, count = 0, nodes = {}, first = first, last = last, hits = 0, misses = 0, on_drop = on_drop }, Cache)
end
local function unlink(node)
  node.previous.next, node.next.previous = node.next, node.previous
end
function Cache:to_front(node)
  local second = self.first.next
  node.previous, node.next = self.first, second
  self.first.next, second.previous = node, node
end
function Cache:get(key)
  local node = self.nodes[key]
  if not node then
    self.misses = self.misses + 1
    return nil
  end
  self.hits = self.hits + 1
  unlink(node)
  self:to_front(node)
  return node.value
end
function Cache:put(key, value)
  local node = self.nodes[key]
  if node then
    node.value = value
    unlink(node)
  else
    if self.count >= self.limit then
      local oldest = self.last.previous
      unlink(oldest)
      self.nodes[oldest.key] = nil
      self.count = self.count - 1
      if self.on_drop then self.on_drop(oldest.key, oldest.value) end
    end
    node = { key = key, value = value }
    self.nodes[key] = node
    self.count = self.count + 1
  end
  self:to_front(node)
end
Cache.__pairs = function(c)
  return function(_, key)
    local node = key == nil and c.first.next or c.nodes[key].next
    if node ~= c.last then return node.key, node.value end
  end, c, nil
end
local dropped, sum = {}, 0
local cache = Cache.new(8, function(k, v) dropped[#dropped + 1] = k .. ":" .. v end)
for i = 1, 200 do
  local key = i * i % 29 % 13
  local v = cache:get(key)
  if v then sum = sum + v else cache:put(key, i) end
end
print(cache.hits, cache.misses, #cache, sum, #dropped, dropped[1], dropped[#dropped])
local order = {}
for k, v in pairs(cache) do order[#order + 1] = k .. "=" .. v end
print(table.concat(order, " "))
local function cached(f, limit)
  local c, calls = Cache.new(limit), 0
  return function(a, b)
    local key = a .. "/" .. b
    local v = c:get(key)
    if v == nil then
      calls = calls + 1
      v = f(a, b)
      c:put(key, v)
    end
    return v
  end, function() return calls, c.hits end
end
local binomial, report
binomial, report = cached(function(n, k)
  if k == 0 or k == n then return 1 end
  return binomial(n - 1, k - 1) + binomial(n - 1, k)
end, 20)
print(binomial(20, 10), binomial(16, 3), report())
local tiny = Cache.new(1)
local swaps = 0
for i = 1, 100 do
  tiny:put(i % 2, i)
  if tiny:get((i + 1) % 2) == nil then swaps = swaps + 1 end
  if i % 10 == 0 then tiny:put(i % 2, "s" .. i) end
end
print(swaps, #tiny, tiny:get(0), tiny.hits, tiny.misses)
local mixed, kinds = Cache.new(5), {}
local keys = { 1, 1.5, "1", true, print, "a long key that is longer than forty characters, surely", -0.0 }
for i = 1, 140 do
  local k = keys[i * 3 % 7 + 1]
  if not mixed:get(k) then mixed:put(k, type(k)) end
end
for _, t in pairs(mixed) do kinds[#kinds + 1] = t end
print(table.concat(kinds, " "), mixed.hits, mixed.misses)
local model, cache2, same = {}, Cache.new(6), 0
for i = 1, 150 do
  local k = (i * 7 + i // 10) % 11
  local at
  for j, e in ipairs(model) do if e == k then at = j break end end
  if at then table.remove(model, at) elseif #model >= 6 then table.remove(model) end
  table.insert(model, 1, k)
  if not cache2:get(k) then cache2:put(k, i) end
  local j, agree = 0, true
  for key in pairs(cache2) do j = j + 1 agree = agree and model[j] == key end
  if agree and j == #model then same = same + 1 end
end
print(same)
