-- Multiple assignment from calls: order, missing and surplus values, targets that the calls change.
local t = {}
local function three(i) t.n = (t.n or 0) + 1 return i, i + 1, i + 2 end
local function none() t.z = (t.z or 0) + 1 end
local function key() t.k = (t.k or 0) % 5 + 1 return t.k end
local log = {}
local proxy = setmetatable({}, { __newindex = function(_, k, v) log[#log + 1] = k .. "=" .. tostring(v) end })
local s = 0
for i = 1, 50 do
  local a, b, c, d = three(i)
  local e, f = none()
  local g, h = (three(i))
  s = s + a + b + c + (d or 0.5) + (e or 1) + (f or 2) + g + (h or 3)
  a, b = b, three(a)
  s = s + a * 2 + b
  t[key()], t[key()], t[key()] = three(s % 7)
  i, t[i % 3], c = c, select(2, three(i))
  s = s + i + (t[0] or 0) + (c or 7)
  proxy.x, proxy.y, a = pcall(three, i)
  s = s + #log % 3 + (a or 9)
  local p <const>, q = pcall(error, i)
  s = s + (p and 1 or q)
end
print(s, t.n, t.z, t.k, #log, log[#log])
local names = {}
for k, v in pairs(t) do names[#names + 1] = tostring(k) .. ":" .. tostring(v) end
table.sort(names)
print(table.concat(names, " "))
-- Swaps through calls, with tables and globals.
x, y = 1, 2
local function swap(a, b) return b, a end
local list = { 1, 2, 3, 4, 5 }
for i = 1, 41 do
  x, y = swap(x, y)
  list[i % 5 + 1], list[(i + 2) % 5 + 1] = swap(list[i % 5 + 1], list[(i + 2) % 5 + 1])
  local ok
  ok, x = pcall(swap, 0, x)
  y = select("#", swap(), ok) + y
end
print(x, y, table.concat(list, " "))
