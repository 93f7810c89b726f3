-- Fresh tables that each iteration stores into the same places: they wait from one iteration to the next.
local function vec(x, y) return { x = x, y = y } end

-- Ways through the loop that see them, change them, keep them, or store something else.
local function ways(n)
  local o, kept, s = { at = vec(0, 0), last = false, n = 0 }, {}, 0
  for i = 1, n do
    o.at = vec(o.at.x + 1, o.at.y + i % 3)
    if i % 7 == 0 then
      s = s + o.at.y
      o.n = o.n + 1
    end
    if i % 31 == 0 then
      o.at.x = o.at.x - 1
    end
    if i % 113 == 0 then
      kept[#kept + 1] = o.at
    end
    if i % 127 == 0 then
      o.last = o.at
    end
    if i % 211 == 0 then
      o.at = { y = 1, x = 2 }
    end
  end
  return s, o.n, o.at.x, o.at.y, #kept, kept[1].x, kept[#kept].y, o.last and o.last.x
end
print(ways(4000))

-- A cell that goes on, and one that is only ever written.
local cell, log = { value = 0 }, {}
local function cells(n, upto)
  for i = 1, n do
    cell.now = { i = i, before = cell.now and cell.now.i }
    log[1] = { "entry", i }
    log[2] = { log[1][2], i % 2 == 0 }
    if cell.now.before == upto then
      return i
    end
  end
end
print(cells(3000), cell.now.i, cell.now.before, log[1][2], log[2][1], log[2][2])
print(cells(3000, 1500), cell.now.i, cell.now.before, log[1][2], log[2][1], log[2][2])
print(cells(3, nil), cell.now.i, cell.now.before, log[1][2], log[2][1], log[2][2])

-- Places that move: a list that is walked, and two that are exchanged.
local function walked(n)
  local list
  for i = 1, 40 do
    list = { next = list, mark = false }
  end
  local count, at = 0, list
  for i = 1, n do
    at.mark = { i = i }
    at = at.next or list
  end
  at = list
  while at do
    count = count + at.mark.i
    at = at.next
  end
  return count
end
print(walked(3000))

local function exchanged(n)
  local a, b = { v = vec(0, 0) }, { v = vec(1, 1) }
  for i = 1, n do
    a.v = vec(b.v.x + 1, i)
    a, b = b, a
  end
  return a.v.x, a.v.y, b.v.x, b.v.y
end
print(exchanged(3000))

-- An inner loop, a called function and a coroutine look at them.
local function looked_at(n)
  local o, s = { p = vec(0, 0), q = vec(0, 0) }, 0
  local co = coroutine.wrap(function()
    while true do
      coroutine.yield(o.p.x + o.q.y)
    end
  end)
  for i = 1, n do
    o.p = vec(i, -i)
    o.q = vec(-i, i)
    for j = 1, i % 4 do
      s = s + o.p.x * j
    end
    if i % 50 == 0 then
      s = s + co()
    end
  end
  return s, o.p.x, o.q.y
end
print(looked_at(3000))

-- The collector meets them where they are stored: what was overwritten is gone.
local function collected(n)
  local o, weak = { held = false }, setmetatable({}, { __mode = "v" })
  for i = 1, n do
    o.held = { i = i }
    if i % 500 == 0 then
      weak[1] = o.held
      collectgarbage()
      assert(weak[1] == o.held and weak[1].i == i)
      weak[2] = { i = i }
      collectgarbage()
      assert(weak[2] == nil)
    end
  end
  return o.held.i
end
print(collected(3000))

-- The loop's own error, with a traceback that sees what is stored.
local function throws(n)
  local o = { state = false }
  local ok, what = pcall(function()
    for i = 1, n do
      o.state = { i = i, twice = i * 2 }
      if i > n - 2 then
        local _ = o.state.none.field
      end
    end
  end)
  return ok, what, o.state.i, o.state.twice
end
print(throws(3000))
