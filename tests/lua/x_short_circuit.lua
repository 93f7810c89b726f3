-- and, or, not in values and conditions, with nil, false, 0 and "" in turn; comparisons whose results are kept.
local values = { nil, false, 0, "", 1, true, {} }
local n = 7
local function name(v) return type(v) == "table" and "t" or tostring(v) end
local d = {}
for i = 1, 98 do
  local a, b, c = values[i % n + 1], values[(i // n) % n + 1], values[(i * 3) % n + 1]
  local r = a and b or c
  local q = (a or b) and (b or c)
  local u = not a == not b
  local x = a == b and c ~= a
  d[#d + 1] = name(r) .. name(q):sub(1, 1) .. name(u):sub(1, 1) .. name(x):sub(1, 1)
  if a and not b or c and b then d[#d] = d[#d] .. "!" end
end
print(table.concat(d, " "))
local t, f = 0, 0
for i = 1, 100 do
  local is = i % 3 == 0
  if is then t = t + 1 else f = f + 1 end
  local both = is and i % 2 == 0
  t = t + (both and 10 or 0)
  if both == false then f = f + 100 elseif both == nil then f = f + 1e9 end
  local g = i > 50 and i or nil
  f = f + (g or 0.5)
end
print(t, f)
local calls = ""
local function yes(x) calls = calls .. x; return x end
local function no(x) calls = calls .. x; return nil end
for i = 1, 12 do
  local _ = yes("a") and no("b") and yes("c") or no("d") or yes("e")
  if i % 2 == 0 and no("f") or yes("g") then calls = calls .. ";" end
end
print(calls)
local x
for i = 1, 60 do x = x or i; x = x and x + 1; if i == 30 then x = false end end
print(x)
local k = 0
for i = 1, 60 do
  local a, b = i % 5, i % 7
  if a < b and b < 5 or a == 4 then k = k + 1 end
  if not (a >= b) and not (b ~= 3) then k = k + 100 end
  while a < b do a = a + 1; if a == 3 and b == 5 then break end end
  k = k + a
end
print(k)
local nilv, s = nil, 0
for i = 1, 60 do
  if nilv == nil then s = s + 1 end
  if i == 20 then nilv = false elseif i == 40 then nilv = 0 end
  if nilv then s = s + 100 end
  if nilv == false then s = s + 10000 end
end
print(s)
