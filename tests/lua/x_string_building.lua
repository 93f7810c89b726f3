-- Strings built in hot loops: concatenation of every mix, buffers, gsub with functions, patterns, short and long strings.
local s = ""
for i = 1, 120 do s = s .. i % 10; if #s > 60 then s = s:sub(31) end end
print(s)
local parts = {}
for i = 1, 100 do parts[#parts + 1] = i .. ":" .. i / 2 .. "," .. -i .. (i % 2 == 0 and "e" or "o") end
local all = table.concat(parts, ";")
print(#all, all:sub(1, 60), all:sub(-40))
local mixed = {}
local values = { 1, 1.0, -0.0, 2 ^ 53, 1e100, 1 / 3, 0 / 0 == 0 and 1 or 7, math.mininteger, "str", "" }
for i = 1, 60 do local v, w = values[i % 10 + 1], values[(i * 3) % 10 + 1]; mixed[i] = v .. w .. "|" .. v end
print(table.concat(mixed, " ", 1, 10))
local long = ("x"):rep(39)
local eq = 0
for i = 1, 60 do
  local a, b = long .. i % 3, long .. (i + 3) % 3
  if a == b then eq = eq + 1 end
  if #a == 40 then eq = eq + 100 end
  if a .. "y" == b .. "y" then eq = eq + 10000 end
end
print(eq)
local words = 0
for i = 1, 60 do for w in ("the quick  brown fox"):gmatch("%a+") do words = words + #w end end
print(words)
local text = "abc-def_ghi"
for i = 1, 60 do text = text:gsub("[-_]", function(c) return c == "-" and "_" or "-" end) end
print(text)
local rev, up = "", 0
for i = 1, 60 do
  local c = string.char(97 + i % 26)
  rev = c .. rev
  if c:upper():byte() < 80 then up = up + 1 end
end
print(rev, up, rev:reverse() == rev)
local f = {}
for i = 1, 60 do f[i] = ("%3d|%-4s|%05.1f|%x|%q"):format(i, "a" .. i, i / 3, i * 255, "q" .. i) end
print(f[1], f[60])
local order = 0
for i = 1, 80 do local a, b = "k" .. i, "k" .. (i * 7) % 80; if a < b then order = order + 1 end if a <= b then order = order + 100 end end
print(order)
print(pcall(function() local q = "" for i = 1, 80 do q = q .. (i < 70 and i or {}) end end))
print(pcall(function() local q = "" for i = 1, 80 do q = q .. i; if i == 75 then q = nil end end end))
local mt = { __concat = function(a, b) return "<" .. tostring(type(a)) .. tostring(type(b)) .. ">" end }
local o, last = setmetatable({}, mt), ""
for i = 1, 60 do last = i % 3 == 0 and "a" .. o or i % 3 == 1 and o .. 1 or o .. o; if i > 57 then io.write(last, " ") end end
print()
local coerced = 0
for i = 1, 60 do coerced = coerced + ("" .. i) + "0x10" * 1 - " 2 " end
print(coerced)
