-- Variable arguments that closures keep: in tables, in locals, by select; table.pack and unpack of many
-- lengths with holes, calls whose last argument is a call, and iterators over '...'.
local function keep(...)
  local t, n = { ... }, select("#", ...)
  local first, second = ...
  return function(i)
    if i == nil then return n end
    if i == 0 then
      first, second = second, first
      return first, second
    end
    return t[i]
  end
end
local sum = 0
for i = 1, 200 do
  local f = keep(i, i % 3 == 0 and i / 2 or nil, i % 5 == 0 and nil or i)
  sum = sum + f() + (f(1) or 0) + (f(2) or 0.25) + (f(3) or -1)
  local a, b = f(0)
  sum = sum + (a or 1) - (b or 2)
  if i % 50 == 0 then print(i, sum, f(0)) end
end

local function bind(f, ...)
  local args = table.pack(...)
  return function(...)
    local all = table.pack(table.unpack(args, 1, args.n))
    for i = 1, select("#", ...) do all[args.n + i] = (select(i, ...)) end
    return f(table.unpack(all, 1, args.n + select("#", ...)))
  end
end
local function show(...)
  local out = {}
  for i = 1, select("#", ...) do out[i] = tostring((select(i, ...))) end
  return select("#", ...) .. ":" .. table.concat(out, ",")
end
local b0, b1, b2, b3 = bind(show), bind(show, 1), bind(show, nil, 2), bind(show, nil, nil, nil)
for i = 1, 60 do
  local s = b0(i) .. b1(i, nil) .. b2(nil, i, nil) .. b3()
  if i % 20 == 0 then print(i, s) end
end
print(b1(table.unpack({ 1, nil, 3 }, 1, 5)), b3(b2(b1())))

-- Lengths from none to many, with holes in all places.
local function count(...) return select("#", ...) end
local function holes(n, every)
  local t = { n = n }
  for i = 1, n do if i % every ~= 0 then t[i] = i end end
  return t
end
for every = 2, 5 do
  local line = {}
  for _, n in ipairs { 0, 1, 2, 3, 8, 17, 60 } do
    local t = holes(n, every)
    local p = table.pack(table.unpack(t, 1, n))
    local filled = 0
    for i = 1, p.n do if p[i] ~= nil then filled = filled + 1 end end
    line[#line + 1] = p.n .. "/" .. filled .. "/" .. count(table.unpack(t, 1, n), nil)
      .. "/" .. count((table.unpack(t, 1, n))) .. "/" .. count(nil, table.unpack(t, 1, n))
  end
  print(every, table.concat(line, " "))
end

-- f(g()), f((g())), f(g(), 1), { g() }, { g(), 1 }: with results whose number changes.
local function results(n)
  if n % 4 == 0 then return end
  if n % 4 == 1 then return n end
  if n % 4 == 2 then return n, nil, n * 0.5 end
  return table.unpack({}, 1, n % 50)
end
sum = 0
for i = 1, 160 do
  sum = sum + count(results(i)) * 3 + count((results(i))) + count(results(i), 1) + count(1, results(i))
  local t = { results(i), results(i + 1) }
  local u = { n = count(results(i + 2)), results(i + 2) }
  sum = sum + #t + u.n
  if i % 40 == 0 then print(i, sum) end
end

-- A closure cannot name the arguments of the function around it; iterators keep a copy.
print((select(2, load("local function f(...) return function() return ... end end"))))
local function each(...)
  local i, n, values = 0, select("#", ...), { ... }
  return function()
    i = i + 1
    if i <= n then return i, values[i] end
  end
end
sum = 0
for round = 1, 30 do
  for i, v in each(round, nil, round / 4, "7", nil) do sum = sum + i * (tonumber(v) or 1) end
end
print(sum)
local function recursive(n, ...)
  if n == 0 then
    local t = { ... }
    return function() return #t, t[1], t[#t] end
  end
  local f = recursive(n - 1, n, ...)
  return function() return f() end
end
for n = 0, 60, 15 do print(n, recursive(n)(), (recursive(n, "last")())) end
