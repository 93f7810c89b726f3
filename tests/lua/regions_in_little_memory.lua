-- Found by chance: many loops over arrays whose trees grow, so that regions of several roots are made again
-- and again. With little code memory (--code-limit 100) they have to end in some attempts.
local max, min, floor, byte, sub, char, tmove, tins, trem = math.max, math.min, math.floor, string.byte, string.sub, string.char, table.move, table.insert, table.remove
local n, K0, K, str, ncall, nerr = 20, 0, {}, "the quick brown fox", 0, 0
local a, b, c, d, M, R = {}, {}, {}, {}, {}, {}
for i = 1, n do a[i] = i b[i] = i * 7 % 13 c[i] = i % 3 d[i] = n - i end
for i = 1, 6 do M[i] = {} for j = 1, 6 do M[i][j] = i * j % 7 end end
for i = 1, 5 do R[i] = {x = i, y = i * 2, z = 0} end
local function I(x) if x ~= x or x > 1e15 or x < -1e15 then return 1 end return floor(x) end
local function C(x) if x ~= x then return 0 end if x > 1e6 or x < -1e6 then return x % 1000 end return x end
local function f(x, y) return x + 1 end
local function g(x, y) K0 = K0 + 1 return K0 end
local h, h2 = function(x, y) return x - 1 end, function(x, y) return I(x) & 31 end
local left = 0
local function budget(k) left = left - k end
local errs = {}
local acc = 0
local function call(k, n, m) ncall = ncall + 1 local ok, x, y, z = pcall(k, n, m) if ok then acc = (acc * 31 + C(x) * 3 + C(y) * 5 + C(z) * 7) % 1000003 else nerr = nerr + 1 errs[x] = (errs[x] or 0) + 1 end end
local function sum(t) local s = 0 for k, v in pairs(t) do s = s + I(k) % 101 * (I(v) % 1009) end return s end
local function show(ph) print(ph, acc, ncall, nerr, #a, #b, #c, #d, sum(a), sum(b), sum(c), sum(d), str, K0, #K)
  local s = 0 for i = 1, 6 do s = s * 3 + sum(M[i]) end local r = "" for i = 1, 5 do local q = R[i] r = r .. tostring(C(q.x)) .. "," .. tostring(C(q.y)) .. "," .. tostring(C(q.z)) .. ";" end print(s, r)
  local ks = {} for k in pairs(errs) do ks[#ks + 1] = k end table.sort(ks) for _, k in ipairs(ks) do print(k, errs[k]) end end

local function k0(n, m)
  local x, y, z = 1, 2, 0.5
  for i = 1, n * 10 do
    do
      a[#a + 1] = C(((d[i] or -1) - (i * x))) if #a > n + 20 then for k = #a, n, -1 do a[k] = nil end end
      local q = i // 2 + 1 d[q] = (d[q] or 0) + 1
      for i1, v2 in pairs(a) do
        do
          if (c[i] or 0) < v2 then v2 = (c[i] or 0) end
          if not d[n] then
            do
              R[(m) // 1 % 5 + 1].x = C(y)
            end
          end
        end
      end
      z = (z * 31 + ((z * 1.0) + (M[I(#a) % 6 + 1][((i * 7 + 3) % n + 1) // 1 % 6 + 1]))) % 65537
      local r = R[(i) // 1 % 5 + 1] r.x, r.y = r.y, C(r.x + (c[i] or 0))
      local v3 = y
      local w4 = 0
      repeat
        w4 = w4 + 1 local v5 = (12 / 1)
        do
          a[w4] = v3 % 1000
        end
      until w4 >= m or v5 == 1
    end
    x, y, z = C(x), C(y), C(z)
  end
  return x, y, z
end
local function k1(n, m)
  local x, y, z = 1, 2, 0.5
  budget(n)
  for i = n, 1, -1 do
    do
      x = x + ((i * z) % 16)
      if (2 * 8) ~= (i + y) and i < y then break end
      x = x + (byte(str, (i % m + 1) % #str + 1))
    end
    x, y, z = C(x), C(y), C(z)
  end
  return x, y, z
end
local function k2(n, m)
  local x, y, z = 1, 2, 0.5
  for i = 1, n do
    do
      if (x // -8) >= (z + z) and ((i // 3) < max(x, y) or (x >= (byte(str, (i + 2) % #str + 1)) or (I(0) << 33) > (1.0 + 2))) then break end
      local r = R[(4) // 1 % 5 + 1] r.z = r.z + r.x * 2 if r.z > 1e6 or r.z < -1e6 then r.z = 0 end
    end
    x, y, z = C(x), C(y), C(z)
  end
  return x, y, z
end
for rep = 1, 75 do
  call(k0, n, rep % 7 + 1)
  call(k1, n, rep % 3 + 2)
  call(k2, n, rep % 3 + 2)
end
show(0)
b = {}
R[2].z = 0.25
for i = 1, n do a[i] = i % 4 end
for rep = 1, 75 do
  call(k0, n, 3)
  call(k1, n, rep % 3 + 2)
  call(k2, n, 5)
end
show(1)
f = g
str = "zz top of the pops"
for rep = 1, 75 do
  call(k0, n, 3)
  call(k1, n, rep % 7 + 1)
  call(k2, n, 5)
end
show(2)
for i = 1, n do b[i] = i * 0.5 end
n = 12
