-- The collector called and retuned from inside hot loops that make garbage: stops, steps, modes, and what survives.
local kept, s = {}, 0
for i = 1, 120 do
  local t = { i, { i }, name = "n" .. i }
  if i % 10 == 0 then kept[#kept + 1] = t end
  if i == 20 then collectgarbage("stop") elseif i == 40 then collectgarbage("restart") end
  if i == 60 then collectgarbage("incremental") elseif i == 80 then collectgarbage("generational") end
  if i % 15 == 0 then collectgarbage("step") end
  if i % 50 == 0 then collectgarbage() end
  s = s + t[2][1] + #t.name
end
print(s, #kept, kept[12][1], kept[12].name, kept[1][2][1])
local old = {}
for i = 1, 60 do old[i] = { value = 0 } end
collectgarbage(); collectgarbage()
for i = 1, 120 do
  local o = old[i % 60 + 1]
  o.child = { i, old[(i * 7) % 60 + 1] }
  o.value = o.value + (o.child[2].child and o.child[2].child[1] or 0)
  if i % 30 == 0 then collectgarbage("step", 1) end
end
local v = 0
for i = 1, 60 do v = v + old[i].value + old[i].child[1] end
print(v)
collectgarbage("generational")
local chain = {}
for i = 1, 100 do
  chain = { prev = chain, n = i }
  if i % 25 == 0 then collectgarbage("step"); chain.prev.prev.extra = { i } end
end
local n, extra = 0, 0
local at = chain
while at.n do n = n + at.n; if at.extra then extra = extra + at.extra[1] end at = at.prev end
print(n, extra)
local up
local function set(x) up = x end
for i = 1, 100 do set({ i }); if i % 20 == 0 then collectgarbage("step") end if up[1] ~= i then print("lost", i) end end
print(up[1], collectgarbage("isrunning"))
local before = collectgarbage("count")
for i = 1, 200 do local _ = { {}, {}, "x" .. i } end
collectgarbage()
print(collectgarbage("count") < before + 50, pcall(collectgarbage, "nope"))
local inc = collectgarbage("incremental", 100, 200, 10)
local w = 0
for i = 1, 100 do local a = {}; for j = 1, 5 do a[j] = { j } end w = w + #a + a[5][1] end
collectgarbage("generational", 5, 50)
for i = 1, 100 do local a = {}; for j = 1, 5 do a[j] = { j } end w = w + #a + a[5][1] end
print(w)
