-- String keys that are removed and come back while a loop runs: absent, nil, false, and found through a metatable then.
local r = { a = 1, b = 2, c = 3 }
local hits, misses = 0, 0
for i = 1, 120 do
  if i % 20 == 0 then r.b = nil elseif i % 20 == 5 then r.b = i end
  if r.b then hits = hits + r.b else misses = misses + 1 end
  if i == 70 then r.c = false end
  if r.c == nil then misses = misses + 1000 end
  if not r.c then misses = misses + 1 end
end
print(hits, misses)
local names = { "x", "y", "z", "w" }
local t, trail = {}, {}
for i = 1, 100 do
  local k = names[i % 4 + 1]
  if t[k] == nil then t[k] = i elseif t[k] > 30 then t[k] = nil else t[k] = t[k] + i end
  if i % 10 == 0 then
    trail[#trail + 1] = (t.x or "-") .. "," .. (t.y or "-") .. "," .. (t.z or "-") .. "," .. (t.w or "-")
  end
end
print(table.concat(trail, " "))
local base = { b = "base" }
local o = setmetatable({ b = "own" }, { __index = base })
local own, inherited, none = 0, 0, 0
for i = 1, 120 do
  if i == 40 then o.b = nil end
  if i == 80 then base.b = nil end
  if i == 100 then o.b = "own" end
  local v = o.b
  if v == "own" then own = own + 1 elseif v == "base" then inherited = inherited + 1 else none = none + 1 end
end
print(own, inherited, none)
local g = 0
for i = 1, 90 do
  if i == 30 then glob_x = 1 elseif i == 60 then glob_x = nil end
  if glob_x then g = g + 1 end
end
print(g)
local fresh = 0
for i = 1, 100 do
  local q = { one = 1 }
  if i % 2 == 0 then q.two = 2 end
  if i % 3 == 0 then q.one = nil end
  fresh = fresh + (q.one or 10) + (q.two or 100)
  q.two = nil
  if next(q) == nil then fresh = fresh + 1000 end
end
print(fresh)
