-- Questions to lists: from(...):where(...):select(...) and so on, over lazy iterators made of closures.

local Query = {}
Query.__index = Query

local function query(start)
  return setmetatable({ start = start }, Query)
end

-- 'start' makes a new iterator each time, so that a query can be run again.
local function from(list)
  return query(function()
    local i = 0
    return function()
      i = i + 1
      return list[i]
    end
  end)
end

local function range(first, last)
  return query(function()
    local i = first - 1
    return function()
      if i < last then
        i = i + 1
        return i
      end
    end
  end)
end

function Query:where(test)
  return query(function()
    local next_item = self.start()
    return function()
      local item = next_item()
      while item ~= nil and not test(item) do
        item = next_item()
      end
      return item
    end
  end)
end

function Query:select(f)
  return query(function()
    local next_item = self.start()
    return function()
      local item = next_item()
      if item ~= nil then return f(item) end
    end
  end)
end

function Query:select_many(f)
  return query(function()
    local next_item = self.start()
    local inner
    return function()
      while true do
        if inner then
          local item = inner()
          if item ~= nil then return item end
        end
        local outer = next_item()
        if outer == nil then return nil end
        inner = f(outer).start()
      end
    end
  end)
end

function Query:take(n)
  return query(function()
    local next_item, left = self.start(), n
    return function()
      if left > 0 then
        left = left - 1
        return next_item()
      end
    end
  end)
end

function Query:skip(n)
  return query(function()
    local next_item, skipped = self.start(), false
    return function()
      if not skipped then
        skipped = true
        for _ = 1, n do
          if next_item() == nil then return nil end
        end
      end
      return next_item()
    end
  end)
end

function Query:distinct()
  return query(function()
    local next_item, seen = self.start(), {}
    return function()
      local item = next_item()
      while item ~= nil and seen[item] do item = next_item() end
      if item ~= nil then seen[item] = true end
      return item
    end
  end)
end

function Query:each(f)
  for item in self.start() do f(item) end
end

function Query:to_list()
  local list = {}
  self:each(function(item) list[#list + 1] = item end)
  return list
end

function Query:fold(value, f)
  for item in self.start() do value = f(value, item) end
  return value
end

function Query:count() return self:fold(0, function(n) return n + 1 end) end
function Query:sum() return self:fold(0, function(a, b) return a + b end) end

function Query:first()
  return (self.start()())
end

function Query:any(test)
  return self:where(test):first() ~= nil
end

-- Groups in the order in which their keys first come up.
function Query:group_by(key)
  return query(function()
    local groups, order = {}, {}
    self:each(function(item)
      local k = key(item)
      local group = groups[k]
      if not group then
        group = { key = k, items = {} }
        groups[k] = group
        order[#order + 1] = group
      end
      group.items[#group.items + 1] = item
    end)
    return from(order).start()
  end)
end

function Query:join(other, key, other_key, combine)
  return query(function()
    local index = {}
    other:each(function(item) index[other_key(item)] = item end)
    return self
      :where(function(item) return index[key(item)] ~= nil end)
      :select(function(item) return combine(item, index[key(item)]) end)
      .start()
  end)
end

-- Smaller keys first; equal ones stay in the order in which they came.
function Query:order_by(key)
  return query(function()
    local rows = {}
    self:each(function(item) rows[#rows + 1] = { key(item), #rows, item } end)
    table.sort(rows, function(a, b)
      if a[1] ~= b[1] then return a[1] < b[1] end
      return a[2] < b[2]
    end)
    return from(rows):select(function(row) return row[3] end).start()
  end)
end

------------------------------------------------------------------ data
local seed = 271828
local function random(n)
  seed = (seed * 16807) % 2147483647
  return seed % n + 1
end

local cities = { "Aachen", "Bergen", "Cadiz", "Dover", "Essen", "Fano", "Gent", "Hull" }
local people, orders = {}, {}
for i = 1, 400 do
  people[i] = { id = i, name = string.char(64 + random(26)) .. "-" .. i, age = 17 + random(60), city = cities[random(8)] }
end
for i = 1, 10500 do
  local items = {}
  for j = 1, random(4) do
    items[j] = { article = "A" .. random(90), pieces = random(5), price = random(9000) / 100 }
  end
  orders[i] = { id = i, person = random(430), day = random(365), items = items }
end

------------------------------------------------------------- questions
local function order_total(order)
  return from(order.items):select(function(x) return x.pieces * x.price end):sum()
end

local function run(round)
  local limit = 78 - 3 * round
  local elders = from(people)
    :where(function(p) return p.age < limit end)
    :order_by(function(p) return -p.age end)
    :select(function(p) return p.name end)
    :take(5)
    :to_list()

  local by_city = from(orders)
    :where(function(o) return o.day > round * 10 end)
    :join(from(people), function(o) return o.person end, function(p) return p.id end,
      function(o, p) return { city = p.city, total = order_total(o) } end)
    :group_by(function(row) return row.city end)
    :select(function(g)
      return { city = g.key, n = #g.items, total = from(g.items):select(function(r) return r.total end):sum() }
    end)
    :order_by(function(r) return r.city end)
    :select(function(r) return string.format("%s %d %.2f", r.city, r.n, r.total) end)
    :to_list()

  local articles = from(orders)
    :skip(round * 20)
    :where(function(o) return o.day % 7 == round % 7 end)
    :select_many(function(o) return from(o.items) end)
    :where(function(x) return x.pieces >= 3 and x.price > 84 end)
    :select(function(x) return x.article end)
    :distinct()
    :count()

  local unknown = from(orders):where(function(o) return o.person > #people end):count()
  local dear = from(orders):any(function(o) return order_total(o) > 1000 + round * 30 end)

  local triples = range(1, 30)
    :select_many(function(a)
      return range(a, 30):select(function(b) return { a, b, math.sqrt(a * a + b * b) } end)
    end)
    :where(function(t) return t[3] % 1 == 0 and t[1] % 3 == round % 3 end)
    :fold(0, function(sum, t) return sum + t[1] * t[2] end)

  return elders, by_city, articles, unknown, dear, triples
end

for round = 1, 18 do
  local elders, by_city, articles, unknown, dear, triples = run(round)
  if round % 6 == 0 then print(table.concat(by_city, "\n")) end
  print(string.format("%d: %s; %d articles, %d unknown, %s, %d",
    round, table.concat(elders, " "), articles, unknown, tostring(dear), triples))
end
