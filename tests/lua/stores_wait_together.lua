-- Fresh tables that are stored into old ones, several at a time, and mostly overwritten before anybody looks.
local function vec(x, y) return { x = x, y = y } end

-- Two fields of one table.
local function two_fields(n)
  local o, s = { a = false, b = false }, 0
  for i = 1, n do
    o.a = { x = i, y = 1 }
    o.b = { x = i + 1, y = 2 }
    s = s + o.a.x + o.b.y
    if i == n - 3 then
      s = s .. o.a.y .. o.b.x
      s = 0
    end
  end
  return s, o.a.x, o.b.x
end
print(two_fields(3000))

-- Two items of one list, and the same items of what may be the same list.
local function two_items(n, r, q)
  for i = 1, n do
    r[1] = vec(q[2].x + 1, r[1].y)
    q[2] = vec(r[1].x, q[2].y + i % 3)
  end
  return r[1].x, r[1].y, r[2].x, r[2].y, q[1].x, q[2].y
end
local one, other = { vec(0, 0), vec(1, 1) }, { vec(5, 5), vec(7, 7) }
print(two_items(2000, one, other))
print(two_items(2000, one, one))

-- The field of two tables that may be one.
local function two_tables(n, p, q)
  for i = 1, n do
    p.pos = vec(q.pos.x + 1, p.pos.y)
    q.pos = vec(p.pos.x + i % 3, q.pos.y + p.pos.x)
    if i % 700 == 0 then
      print(i, p.pos.x, q.pos.y, p.pos == q.pos)
    end
  end
  return p.pos.x, p.pos.y, q.pos.x, q.pos.y
end
local p, q = { pos = vec(0, 0) }, { pos = vec(1, 1) }
print(two_tables(2000, p, q))
print(two_tables(2000, p, p))

-- Overwritten by something else: false, nil, a number, an old table.
local task = {}
local function overwritten(n, with)
  local s = 0
  task.now = false
  for i = 1, n do
    task.now = { id = i, cost = i % 5 }
    s = s + task.now.cost
    if i % 400 == 0 then
      s = s + (task.now and task.now.id or 0)
    end
    task.now = with
  end
  return s, task.now
end
print(overwritten(2000, false))
print(overwritten(2000, nil))
print(overwritten(2000, 12.5))
local old = { id = "old" }
local sum, now = overwritten(2000, old)
print(sum, now == old)

-- Left in between: each loop ends, or throws, while tables wait.
local function left(n, at)
  local o = { first = false, second = false, count = 0 }
  local ok, what = pcall(function()
    for i = 1, n do
      o.first = vec(i, -i)
      o.second = vec(o.first, i)
      o.count = o.count + 1
      if i == at then
        error("left at " .. i)
      end
      o.first, o.second = o.second, o.first
    end
  end)
  local first, second = o.first, o.second
  print(ok, what and what:match("left.*"), o.count, type(first.x), type(second.x), first.y, second.y)
end
left(3000, 2990)
left(3000, 1e9)

-- A list whose last two items are exchanged for new ones.
local function exchanged(n)
  local list = { 1, 2, vec(0, 0), vec(0, 0) }
  for i = 1, n do
    local k = i % 2 + 3
    list[k] = vec(i, list[7 - k].x)
    list[7 - k] = vec(list[k].y, i)
    if i % 1000 == 0 then
      list[1], list[2] = list[3], list[4]
    end
  end
  return list[1].x, list[1].y, list[2].x, list[3].x, list[3].y, list[4].x, list[4].y
end
print(exchanged(3000))

-- Each is the other's.
local function circles(n)
  local a, b = {}, {}
  a.link, b.link = a, b
  for i = 1, n do
    a.link = { back = a, n = i }
    b.link = { back = a.link, n = -i }
    a.link.back = b.link
  end
  return a.link.n, b.link.n, a.link.back == b.link, b.link.back == a.link
end
print(circles(3000))
