-- Short strings that lie outside of Lua's memory: they are equal to those inside, and the same keys.
local name = os.tmpname()
local function outside(text)
  local file = assert(io.open(name, 'w'))
  file:write(text)
  file:close()
  file = assert(io.open(name))
  local got = file:read(100000)
  file:close()
  return got
end
local key, other, empty_like = outside('key'), outside('other'), outside('x')
os.remove(name)
local t, n = { key = 1, x = 2 }, 0
local keys = { key, 'key', other, 'none', empty_like, 'x' }
for i = 1, 600 do
  local k = keys[i % #keys + 1]
  if k == 'key' then n = n + 1 end
  if k ~= key then n = n + 10 end
  if rawequal(k, other) then n = n + 100 end
  if k < 'l' then n = n + 1000 end
  n = n + (t[k] or 0) + #k + k:byte(1)
end
print(n)
local made = {}
for i = 1, 300 do
  local k = keys[i % #keys + 1]
  made[k] = (made[k] or 0) + i
  t[k] = i
end
local names = {}
for k, v in pairs(made) do names[#names + 1] = k .. '=' .. v end
table.sort(names)
print(table.concat(names, ' '), t.key, t.other, t.none, t[key], rawget(t, key))
for round = 1, 100 do
  local fresh = {}
  fresh[key], fresh[other] = round, key
  if round % 50 == 0 then print(fresh.key, fresh.other, next(fresh) == 'key' or next(fresh) == 'other') end
end
local long = ('ab'):rep(5000)
local bytes, upper = 0, 0
for i = 1, #long do bytes = bytes + long:byte(i) end
for i = 1, 200 do upper = upper + #long:sub(i, i + 60):upper() + #(key .. i) + #(long .. key) end
print(bytes, upper, long == ('ab'):rep(5000), long:sub(-3), key .. other, ('%s/%s'):format(key, other))
-- Floats have as many digits as they need.
local text = {}
for i = 1, 60 do text[#text + 1] = i / 7 .. '|' .. i / 8 end
print(table.concat(text, ' '))
local f = 0.0
for i = 1, 200 do f = f + 0.1 text[i] = tostring(f) .. f end
print(text[3], text[10], text[200], 1e15, 1e14, 1e100, -0.0, 2^53, 0.1, 1/3, 100.0)
for i = 1, 100 do text[i] = tostring(i * 1e13) .. i * 1e14 .. i * 1e15 end
print(text[1], text[9], text[10], text[99], text[100])
