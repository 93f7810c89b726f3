-- Functions of the base library that look at values.
local names = {}
for i = 1, 150 do
  local v = i % 3 == 0 and i or i % 3 == 1 and names or tostring
  local t = type(v)
  names[t] = (names[t] or 0) + (type(i / 2) == "number" and 1 or 0) + (type(nil) == "nil" and 1 or 100)
end
print(names.number, names["function"], names.table)

-- select, with arguments that are there
local sum = 0
local function pick (n, ...) return (select(n, 10, 20, 30)) end
for i = 1, 100 do
  local a, b, c, d = select(2, i, i + 1, i + 2)
  local e, f = select(-1, i, i * 2)
  local g = select(7, 1, 2)
  sum = sum + a + b + (c or 0) + (d or 0) + e + (f or 0) + select("#", i, nil, nil) + select("#") + (g or 1000)
end
print(sum)
local hash = "#"
local counted = 0
for i = 1, 100 do
  local what = i < 60 and "#" or i < 80 and 2 or -2
  counted = counted + select(what, i, 7, 9)
end
print(counted)
print(pcall(function () for i = 1, 100 do local n = i < 90 and 1 or 0; local v = select(n, i) end end))
print(pcall(function () for i = 1, 100 do local n = i < 90 and 1 or -3; local v = select(n, i, i) end end))
print(pcall(function () for i = 1, 100 do local n = i < 90 and "#" or "x"; local v = select(n, i, i) end end))

-- rawequal and rawlen do not ask metatables
local always = { __eq = function () return true end, __len = function () return 77 end }
local p, q = setmetatable({ 1, 2, 3 }, always), setmetatable({ 1, 2 }, always)
local same, lengths = 0, 0
for i = 1, 150 do
  if rawequal(p, q) then same = same + 1 end
  if rawequal(p, i > 100 and p or q) then same = same + 1000 end
  if rawequal(i, i + 0.0) then same = same + 1000000 end
  if rawequal("a" .. i, "a" .. i) then same = same + 1 end
  if rawequal(i, "1") or rawequal(nil, false) then same = -1 end
  if rawequal(type, i > 120 and type or print) then same = same + 1 end
  lengths = lengths + rawlen(p) + rawlen("four") + rawlen(i > 70 and q or p)
  if i == 90 then p[4] = 4 end
end
print(same, lengths)

-- numbers, strings and the rest
local texts = {}
for i = 1, 120 do
  local v = i
  if i > 20 then v = i + 0.0 end
  if i > 40 then v = i % 2 == 0 end
  if i > 60 then v = nil end
  if i > 80 then v = "s" .. i end
  if i > 100 then v = i / 7 end
  texts[#texts + 1] = tostring(v)
end
print(table.concat(texts, " "))
local zeros = ""
for i = 1, 60 do zeros = tostring(i > 50 and -0.0 or 0.0) .. tostring(-i) .. tostring(i > 30 and 1 / 0 or 2^63) end
print(zeros)
local numbers = 0
for i = 1, 120 do
  local v = i
  if i > 50 then v = i / 4 end
  if i > 80 then v = nil end
  if i > 90 then v = "0x10" end
  if i > 110 then v = "no" end
  numbers = numbers + (tonumber(v) or -1) + tonumber(tonumber(i))
end
print(numbers, pcall(function () for i = 1, 80 do if i > 70 then tonumber() else tonumber(i) end end end))

-- '__tostring' and '__name' where a program may put them, while the loop runs
local set = debug.setmetatable
local shown = {}
for i = 1, 90 do
  if i == 60 then set(0, { __tostring = function (n) return "number!" end }) end
  if i == 70 then set(0, { __name = "other" }) end
  if i == 80 then set(0, nil) end
  shown[i] = tostring(i)
end
print(shown[59], shown[60], shown[69], shown[70], shown[80], shown[90])
for i = 1, 90 do
  if i == 60 then set(nil, { __tostring = function (n) return "none" end }) end
  if i == 80 then set(nil, nil) end
  shown[i] = tostring(nil)
end
print(shown[59], shown[60], shown[79], shown[80])
local strings = getmetatable("")
for i = 1, 90 do
  if i == 60 then strings.__tostring = function (s) return "<" .. s .. ">" end end
  if i == 80 then strings.__tostring = nil end
  shown[i] = tostring("x" .. i)
end
print(shown[59], shown[60], shown[79], shown[80])
local objects = {}
for i = 1, 90 do
  objects[i] = tostring(setmetatable({}, { __tostring = function () return "object " .. i end }))
end
print(objects[1], objects[90])

-- assert hands all its arguments on
local total = 0
for i = 1, 150 do
  local a, b, c = assert(i, "not shown", i * 2)
  total = total + a + c + #b + assert(i % 2 == 0 and 1 or i)
end
print(total)
print(pcall(function () for i = 1, 150 do assert(i < 140, "too far") end end))
print(pcall(function () for i = 1, 150 do assert(i < 140 or nil) end end))
print(pcall(function () for i = 1, 150 do assert(i < 140, { 1 } and nil) end end))

-- as the last call of a function, and with more and fewer results than are wanted
local function kind (v) return type(v) end
local function both (v) return assert(v, "b", "c") end
local function none () return select(3, 1, 2) end
local joined = 0
for i = 1, 150 do
  local a, b, c, d = both(i)
  local e = none()
  type(i)
  joined = joined + #kind(i) + #b + #c + (d == nil and 1 or 0) + (e == nil and 1 or 0) + select("#", none()) + select("#", both(1))
end
print(joined)
