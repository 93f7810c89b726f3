-- Small tables made in each round that mostly die: returned, stored, captured, thrown, yielded, compared, passed on now and then.
local function vec(x, y) return { x = x, y = y } end
local function add(a, b) return vec(a.x + b.x, a.y + b.y) end
local p, kept = vec(0, 0), {}
for i = 1, 150 do
  p = add(p, vec(i, -i))
  if i % 50 == 0 then kept[#kept + 1] = p end
end
print(p.x, p.y, kept[1].x, kept[2].y, kept[3] == p)
local last
local ok, e = pcall(function()
  for i = 1, 90 do
    local v = vec(i, { inner = i })
    last = v.y
    if i == 77 then error(v) end
  end
end)
print(ok, e.x, e.y.inner, last == e.y)
local co = coroutine.wrap(function() for i = 1, 90 do local v = vec(i, i); if i % 30 == 0 then v.y = coroutine.yield(v) end if v.y == nil then return "nil at " .. i end end end)
local a = co(); local b = co(5)
print(a.x, b.x, co(nil))
local cyc, total = nil, 0
for i = 1, 80 do
  local u, v = { n = i }, { n = -i }
  u.other, v.other = v, u
  if u.other.other == u then total = total + u.other.n end
  if i % 40 == 0 then cyc = u end
end
print(total, cyc.n, cyc.other.n, cyc.other.other == cyc)
local acc = { sum = 0, count = 0 }
for i = 1, 100 do
  acc = { sum = acc.sum + i, count = acc.count + 1, prev = i % 25 == 0 and acc or nil }
end
print(acc.sum, acc.count, acc.prev.sum, acc.prev.prev)
local f
for i = 1, 80 do
  local box = { i }
  local get = function() box[1] = box[1] + 1; return box[1] end
  if i == 60 then f = get end
  get()
end
print(f(), f())
local m, hits = setmetatable({}, { __mode = "k" }), 0
for i = 1, 60 do local k = {}; m[k] = i; if m[k] == i then hits = hits + 1 end end
print(hits)
local t = {}
for i = 1, 60 do local pair = { i, i + 1 }; t[i % 7] = pair; pair[2] = t[(i + 1) % 7] and t[(i + 1) % 7][1] or 0 end
for i = 0, 6 do io.write(t[i][1], ":", t[i][2], " ") end
print()
local state = { pos = vec(0, 0), vel = vec(1, 0.5), age = 0 }
for i = 1, 120 do
  state = { pos = add(state.pos, state.vel), vel = state.pos.x > 50 and vec(-1, state.vel.y) or state.vel, age = state.age + 1 }
end
print(state.pos.x, state.pos.y, state.vel.x, state.age)
local s = ""
for i = 1, 60 do local v = vec(i, nil); v.z = i; v.x = nil; local names = {} for k in pairs(v) do names[#names + 1] = k end if i > 57 then s = s .. table.concat(names) end end
print(s)
local cmp = 0
for i = 1, 60 do local q, r = vec(i, i), vec(i, i); if q == r then cmp = cmp + 1 end if q ~= r then cmp = cmp + 100 end local w = q; if w == q then cmp = cmp + 10000 end end
print(cmp)
