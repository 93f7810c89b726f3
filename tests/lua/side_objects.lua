-- Exits that leave objects behind which nothing has made yet: the side trace that begins there makes what it needs of them.
local function show(t)
  local out = {}
  for k, v in pairs(t) do out[#out + 1] = tostring(k) .. "=" .. (type(v) == "table" and "t" or tostring(v)) end
  table.sort(out)
  return table.concat(out, " ")
end

-- kept, changed, read, or dropped on the way that is rarer
local function one(n)
  local kept, sum = { 0, 0, 0 }, 0
  for i = 1, n do
    local r = { v = i, w = i + 0.5 }
    if i % 3 == 0 then
      kept[i % 9 // 3 + 1] = r
    elseif i % 5 == 0 then
      r.v = r.v + 100
      sum = sum + r.v
    elseif i % 7 == 0 then
      r = i
    end
    if r ~= i then sum = sum + r.w end
  end
  return sum, show(kept[1]), show(kept[2]), show(kept[3])
end
print(one(60))

-- nested, shared, and cyclic
local function shapes(n)
  local last, sum = nil, 0
  for i = 1, n do
    local leaf = { i }
    local p = { left = leaf, right = leaf, inner = { deep = { v = i } } }
    p.me = p
    leaf.up = p
    if i & 3 == 2 then
      p.left[1] = p.right[1] + 10
      sum = sum + p.me.me.right[1] + (p.left == p.right and 1 or 1000) + (leaf.up == p and 2 or 2000)
      last = p
    else
      sum = sum + p.inner.deep.v
    end
  end
  return sum, last.left[1], last.right.up == last, last.inner.deep.v, last.me.me == last
end
print(shapes(40))

-- metatables
local complex = {}
complex.__index = complex
complex.__add = function(a, b) return setmetatable({ re = a.re + b.re, im = a.im + b.im }, complex) end
complex.__eq = function(a, b) return a.re == b.re and a.im == b.im end
function complex.size(z) return z.re * z.re + z.im * z.im end
local function meta(n)
  local z, c, far = setmetatable({ re = 0.0, im = 1.0 }, complex), setmetatable({ re = 0.5, im = -0.25 }, complex), 0
  for i = 1, n do
    z = z + c
    if z:size() > 9 then
      far = far + i
      z = setmetatable({ re = -z.im, im = 0.125 }, complex)
    end
    if z == c then far = far - 1 end
  end
  return z.re, z.im, far, getmetatable(z) == complex
end
print(meta(60))

-- arrays, with holes and of several types
local function arrays(n)
  local sum, last = 0, nil
  for i = 1, n do
    local t = { i, i + 1, nil, tostring(i & 1), i * 0.5 }
    t[3] = i & 1 == 0 and i or nil
    if i % 4 == 1 then
      sum = sum + #t[4] + t[5]
      last = t
    end
    sum = sum + t[1] + t[2] + (t[3] or -1)
  end
  return sum, last[1], last[2], last[3], last[4], last[5]
end
print(arrays(40))

-- one type here, another there: the guard is on what the object is added to
local function types(n)
  local a, s = {}, 0
  for i = 0, 15 do a[i] = i % 3 == 0 and { v = 1 } or { v = 1.5 } end
  for i = 1, n do
    local r = { v = i }
    s = s + a[i % 16].v
    a[16] = r
  end
  return s, a[16].v
end
print(types(60))

-- a way that ends the loop, or leaves its function, with the object
local function found(n, k)
  for i = 1, n do
    local p = { at = i, name = "n" .. (i % 3) }
    if p.at == k then return p end
    if p.at > k + 3 then break end
  end
  return { at = 0 }
end
local total = 0
for k = 1, 30 do
  local p = found(40, k % 11)
  total = total + p.at * (p.name and #p.name or 100)
end
print(total)
