-- Small tables that only an index that varies looks at.
local function ring3(n)
  local s = 0
  for i = 1, n do
    local t = { i, i + 1, i * 2 }
    s = s + t[i % 3 + 1]
  end
  return s
end
print(ring3(3000))

-- Written there too, and handed on to the next iteration.
local function ring2(n)
  local s, r = 0, { 1, 2 }
  for i = 1, n do
    r = { r[2], r[1] + i % 7 }
    local k = i % 2 + 1
    r[k] = r[k] + 1
    s = s + r[3 - k]
  end
  return s, r[1], r[2], #r
end
print(ring2(3000))

-- Items of several types: the one that is wanted now and then is another one.
local function mixed(n)
  local ints, floats, others = 0, 0.0, 0
  for i = 1, n do
    local t = { i, i / 2, "text", nil, i + 1 }
    local v = t[i % (i % 100 == 0 and 6 or 2) + 1]
    if math.type(v) == "integer" then
      ints = ints + v
    elseif math.type(v) == "float" then
      floats = floats + v
    else
      others = others + (v == nil and 1 or #v)
    end
  end
  return ints, floats, others
end
print(mixed(3000))

-- Beyond the end, before the start, and no integer at all.
local function outside(n, every)
  local s, missing = 0, 0
  for i = 1, n do
    local t = { i, -i, i * i }
    local k = i % 3 + 1
    if i % every == 0 then
      k = k + 2
    elseif i % every == 1 then
      k = k - 2
    elseif i % every == 2 then
      k = k + 0.5
    end
    s = s + (t[k] or 7)
    if t[k] == nil then
      missing = missing + 1
    end
  end
  return s, missing
end
print(outside(3000, 50))

-- What is stored there: another type, nil, one more item, a table.
local function stored(n)
  local s = 0
  for i = 1, n do
    local t = { 1, 2, 3 }
    local k = i % 3 + 1
    t[k] = i
    if i % 97 == 0 then
      t[k] = 0.5
    elseif i % 97 == 1 then
      t[k] = nil
    elseif i % 97 == 2 then
      t[k + 2] = 9
    elseif i % 97 == 3 then
      t[k] = { i }
    end
    for j = 1, 5 do
      local v = t[j]
      s = s + (type(v) == "table" and v[1] or v or 100)
    end
  end
  return s
end
print(stored(3000))

-- Kept by somebody after all.
local kept = {}
local function keeps(n)
  local s = 0
  for i = 1, n do
    local t = { i, i + 1 }
    t[i % 2 + 1] = i * 10
    if i % 500 == 0 then
      kept[#kept + 1] = t
    end
    s = s + t[(i + 1) % 2 + 1]
  end
  return s
end
print(keeps(3000))
for n, t in ipairs(kept) do
  print(n, #t, t[1], t[2])
end

-- With a metatable, which is asked for what is absent.
local asked = setmetatable({}, { __index = function(_, k) return k end })
local meta = { __index = asked }
local function with_metatable(n)
  local s = 0
  for i = 1, n do
    local t = setmetatable({ i, i + 1 }, meta)
    s = s + t[i % 2 + 1]
    if i % 300 == 0 then
      s = s + t[i % 2 + 3]
    end
  end
  return s
end
print(with_metatable(3000))

-- An error inside says where it was.
local function fails(n)
  local s = 0
  for i = 1, n do
    local t = { i, i }
    s = s + t[i % 2 + 1 + i // 2900]
  end
  return s
end
print(pcall(fails, 3000))

-- Floats, and booleans.
local function floats(n)
  local s, yes = 0.0, 0
  for i = 1, n do
    local t = { i + 0.25, i * 0.5, -0.0, 1 / 0 }
    local u = { true, true }
    s = s + 1 / (t[i % 4 + 1] + 1)
    yes = yes + (u[i % 2 + 1] and 1 or 0)
  end
  return s, yes
end
print(floats(3000))
