-- Weak tables used by hot loops: values and keys that go, ephemerons, strings and numbers that stay, resurrection.
local values, keys, both = setmetatable({}, { __mode = "v" }), setmetatable({}, { __mode = "k" }), setmetatable({}, { __mode = "kv" })
local kept = {}
for i = 1, 100 do
  local o = { i }
  values[i], keys[o], both[o] = o, i, o
  if i % 25 == 0 then kept[#kept + 1] = o end
end
collectgarbage()
local function count(t) local n = 0 for _ in pairs(t) do n = n + 1 end return n end
print(count(values), count(keys), count(both), values[25] == kept[1], values[26])
local s = 0
for i = 1, 100 do if values[i] then s = s + values[i][1] end end
print(s)
kept = nil
collectgarbage()
print(count(values), count(keys), count(both))
local e = setmetatable({}, { __mode = "k" })
local root
for i = 1, 60 do local k = {}; e[k] = { root }; root = k end
collectgarbage()
print(count(e))
local depth, k = 0, root
while k do depth = depth + 1; k = e[k][1] end
print(depth)
root, k = nil, nil
collectgarbage()
print(count(e))
local strong = setmetatable({}, { __mode = "v" })
for i = 1, 60 do strong[i] = i % 3 == 0 and "s" .. i or i % 3 == 1 and i or i * 0.5 end
collectgarbage()
print(count(strong))
local cache, misses = setmetatable({}, { __mode = "v" }), 0
local function get(n)
  local v = cache[n]
  if not v then misses = misses + 1; v = { n * 2 }; cache[n] = v end
  return v
end
local hold, total = {}, 0
for i = 1, 100 do hold[i % 10] = get(i % 10); total = total + hold[i % 10][1] end
print(total, misses)
-- A loop's own constant table does not keep what it looks up alive.
local w = setmetatable({}, { __mode = "v" })
w.x = {}
local seen = 0
for i = 1, 80 do
  if i == 40 then collectgarbage() end
  if w.x then seen = seen + 1 end
end
print(seen < 80, w.x)
local found = 0
do
  local token = {}
  local reg = setmetatable({ [token] = "t" }, { __mode = "k" })
  for i = 1, 80 do if reg[token] == "t" then found = found + 1 end if i == 60 then collectgarbage() end end
  token = nil
  collectgarbage()
  print(found, count(reg))
end
