-- Patterns: gsub with tables, functions and captures, gmatch, find from a position, templates, URLs, word counts, wrapping.
local text = ("The rain in Spain stays mainly in the plain; in Hartford, Hereford and Hampshire hurricanes hardly happen. "):rep(2)
local counts, order = {}, {}
for word in text:lower():gmatch("%a+") do
  if not counts[word] then order[#order + 1] = word end
  counts[word] = (counts[word] or 0) + 1
end
table.sort(order, function(a, b) return counts[a] > counts[b] or counts[a] == counts[b] and a < b end)
for i = 1, 5 do io.write(order[i], "=", counts[order[i]], " ") end
print(#order)
local function fill(template, values)
  return (template:gsub("%${(%w+)(:?(%d*))}", function(name, _, width)
    local v = values[name]
    if v == nil then return end
    return width ~= "" and ("%" .. width .. "s"):format(v) or tostring(v)
  end))
end
local length = 0
for i = 1, 80 do length = length + #fill("Dear ${name}, you owe ${sum:8} since ${day}.", { name = "N" .. i, sum = i * 1.5 }) end
print(length, fill("<${a}|${b:5}|${c}>", { a = 1, b = "x" }))
local function parse(url)
  local scheme, rest = url:match("^(%a[%w+.-]*):(.*)$")
  local host, port, path, query, anchor = (rest or url):match("^//([^/:?#]*):?(%d*)([^?#]*)%??([^#]*)#?(.*)$")
  local fields = {}
  for k, v in (query or ""):gmatch("([^&=]+)=([^&]*)") do
    fields[#fields + 1] = k .. "=" .. v:gsub("+", " "):gsub("%%(%x%x)", function(h) return string.char(tonumber(h, 16)) end)
  end
  return scheme, host, port, path, table.concat(fields, ";"), anchor
end
print(parse("http://www.lua.org:8080/manual/5.4/?q=a+b%21&lang=en#s6"))
print(parse("file:///tmp/x"))
local parsed = 0
for i = 1, 60 do
  local _, host, port, path = parse("https://host" .. i .. (i % 2 == 0 and ":" .. i or "") .. ("/p"):rep(i % 4))
  parsed = parsed + #host + #port * 10 + #path * 100
end
print(parsed)
local function wrap(s, width)
  local lines, line = {}, ""
  for word in s:gmatch("%S+") do
    if #line + #word + 1 > width and line ~= "" then lines[#lines + 1], line = line, word
    else line = line == "" and word or line .. " " .. word end
  end
  lines[#lines + 1] = line
  return lines
end
for i, line in ipairs(wrap(text, 44)) do print(i, line) end
local widths = 0
for w = 1, 60 do widths = widths * 7 % 100003 + #wrap(text, w) end
print(widths)
print(("THE (quick) fox"):find("%((%a+)%)"), ("f(a(b)c)d"):match("%b()"), ("THE (quick) fox"):gsub("%f[%a]%a", string.lower))
print(("x = 1, y=22 ,z= 333"):gsub("(%w+)%s*=%s*(%w+)", "%2=%1"), ("abc"):gsub("", "-"), ("a.b.c"):gsub("%.", "%%"))
print((" trim me "):match("^%s*(.-)%s*$") .. "|", ("k=v=w"):match("^(.-)=(.*)$"), ("  x"):find("^%s*()"))
local positions, from = {}, 1
while true do
  local at, to = text:find("in", from, true)
  if not at then break end
  positions[#positions + 1] = at
  from = to + 1
end
print(table.concat(positions, " "))
local vowels, replaced, names = 0, 0, { a = "4", e = "3", i = false, o = "0" }
for i = 1, #text do
  local c = text:sub(i, i)
  if c:match("[aeiou]") then vowels = vowels + 1 end
  local _, n = c:gsub("%a", names)
  replaced = replaced + n
end
print(vowels, replaced, (text:gsub("%a", names):sub(1, 50)))
local function snake(s) return (s:gsub("(%l)(%u)", "%1_%2"):lower()) end
local function camel(s) return (s:gsub("_(%l)", string.upper)) end
local round = 0
for i = 1, 70 do
  local name = ("fooBar"):rep(i % 3 + 1) .. "Baz" .. i
  if camel(snake(name)) == name then round = round + 1 end
end
print(round, snake("someLongName"), camel("some_long_name"))
print(pcall(string.gsub, "x", "(", ""), pcall(string.find, "x", "[a"), pcall(string.rep, "x", -1), pcall(string.gsub, "x", "x", "%2"))
local stop = 0
for a, b in ("k1=v1;k2=v2;k3=v3;"):rep(20):gmatch("(%w+)=(%w+);") do stop = stop + #a * #b end
print(stop, ("hello world"):gsub("o", "0", 1), ("one two"):gmatch("%a+")())
