-- A field that nearly always has values of one type, and another one in rare iterations, which go back to the
-- loop's beginning: what holds for its key holds on, but not what holds for its value.
local function check(got, wanted, where)
  if got ~= wanted or math.type(got) ~= math.type(wanted) then
    print("wrong", where, got, math.type(got), wanted)
  end
end

local function constant(n, every)
  local t = { k = 1.5 }
  for i = 1, n do
    t.k = 9.5
    if i % every == 0 then t.k = 3 end
  end
  check(t.k, n % every == 0 and 3 or 9.5, "constant")
  return t.k
end

local function computed(n, every)
  local t = { a = 0, k = 1, b = 0 }
  local seen = 0
  for i = 1, n do
    t.k = i
    if i % every == 0 then t.k = i + 0.5 end
    if i % 41 == 0 then
      check(t.k, i % every == 0 and i + 0.5 or i, "computed")
      seen = seen + t.k
    end
  end
  return seen, t.k
end

-- Types that have no payload, and objects.
local function others(n, every)
  local t = { k = true }
  local counts = {}
  for i = 1, n do
    t.k = i
    if i % every == 0 then
      local which = i // every % 3
      if which == 0 then t.k = false elseif which == 1 then t.k = "text" else t.k = counts end
    end
    if i % 7 == 0 then
      local name = type(t.k)
      counts[name] = (counts[name] or 0) + 1
    end
  end
  return counts.number, counts.boolean, counts.string, counts.table
end

-- Globals are fields of a table.
G = 0
local function global(n, every)
  for i = 1, n do
    G = 2.25
    if i % every == 0 then G = 4 end
    if i % 100 == 50 then check(G, i % every == 0 and 4 or 2.25, "global") end
  end
  return G
end

-- Two fields, each with its own rare type.
local function two(n)
  local t = { x = 0, y = 0.5 }
  local sum = 0
  for i = 1, n do
    t.x = i
    t.y = i / 2
    if i % 13 == 0 then t.x = i + 0.25 end
    if i % 17 == 0 then t.y = i end
    if i % 19 == 0 then
      check(t.x, i % 13 == 0 and i + 0.25 or i, "x")
      check(t.y, i % 17 == 0 and i or i / 2, "y")
    end
    sum = sum + t.x
  end
  return sum, t.x, t.y
end

for _, every in ipairs { 2, 3, 9, 27 } do
  print(every, constant(1000, every), constant(1003, every))
  print(every, computed(2000, every))
  print(every, others(2100, every))
  print(every, global(1234, every))
end
print(two(3000))
