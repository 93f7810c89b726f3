-- Random patterns, good ones and malformed ones, each several times, as those that come again are translated.

local seed = 20
local function random(n) seed = (seed * 16807 + 12345) % 2147483647 return seed // 7 % n + 1 end
local pieces = { "a", "b", "x", "1", " ", ".", "%a", "%d", "%s", "%w", "%A", "%S", "%.", "%%", "%-",
  "[abc]", "[^abc]", "[a-f1-3]", "[%w_]", "[]]", "[^]]", "[%]]", "[a%-]", "(", ")", "()", "%1", "%2",
  "%bxy", "%b()", "%f[%w]", "%f[^a]", "$", "^", "%", "[", "%b", "%f", "%0", "-", "]", "\0", "%z", "%y",
  "é", "%f[%z]" , "%x", "%p","%u","%l","%c","%g"}
local suffix = { "", "", "", "*", "+", "-", "?" }
local chars = { "a", "b", "c", "x", "y", "1", "2", " ", "(", ")", ".", "-", "_", "]", "%", "A", "\0", "é",
  "$", "^" }
local function show(...)
  local t = table.pack(...)
  for i = 1, t.n do t[i] = tostring(t[i]):gsub("%c", function(c) return "\\" .. c:byte() end) end
  return table.concat(t, ",", 1, t.n)
end
-- Calls in functions of their own: with fewer results than there are and with more, all of them, in tail
-- position.
local function find_three(s, p, init)
  local a, b, c = s:find(p, init)
  return a, b, c, (s:find(p, 1, true))
end
local function match_five(s, p) local a, b, c, d, e = s:match(p) return a, b, c, d, e end
local function all(s, p) return "<", s:find(p) end
local function tail(s, p, init) return s:match(p, init) end
local function listed(s, p) return { s:find(p), s:match(p) } end
local function test(s, p) if s:find(p) then return "found" elseif s:match(p, 2) then return "later" end end

for round = 1, 150 do
  local p = {}
  if random(4) == 1 then p[1] = "^" end
  local open = 0
  for _ = 1, random(6) do
    local piece = pieces[random(#pieces)]
    if piece == "(" then open = open + 1 end
    if piece == ")" then if open == 0 and random(5) > 1 then piece = "a" else open = open - 1 end end
    p[#p + 1] = piece .. (#piece > 0 and piece ~= "(" and piece ~= ")" and suffix[random(#suffix)] or "")
  end
  while open > 0 and random(8) > 1 do p[#p + 1] = ")" open = open - 1 end
  if random(5) == 1 then p[#p + 1] = "$" end
  p = table.concat(p)
  for _ = 1, 4 do
    local s = {}
    for i = 1, random(14) - 1 do s[i] = chars[random(#chars)] end
    s = table.concat(s)
    local init = random(9) - 4
    local out = { show(pcall(find_three, s, p, init)), show(pcall(match_five, s, p)), show(pcall(all, s, p)),
      show(pcall(tail, s, p, init)), show(pcall(function() return table.unpack(listed(s, p)) end)),
      show(pcall(test, s, p)), show(pcall(string.find, s, p)), show(pcall(string.match, s, p)),
        show(pcall(string.find, s, p, random(6) - 3)), show(pcall(string.gsub, s, p, "<%0>")),
      show(pcall(string.gsub, s, p, "%1", random(3))),
      show(pcall(function() local r = {} for a,
        b in s:gmatch(p) do r[#r + 1] = tostring(a) .. "/" .. tostring(b) if #r > 30 then break end end
        return table.concat(r, ";") end)) }
    print(round, show(p), show(s), table.concat(out, " | "))
  end
end

-- A pattern of each kind on long subjects, where even the first search is translated.
local text = ("The quick (brown) fox, 12.5 jumps; over \"the\" lazy dog_1 -- [x] = {y}\n"):rep(20)
for _, p in ipairs { "%a+", "%s-%d", "(%w+)%s*=%s*(%w+)", "%b()", "\"(.-)\"", "%f[%w]%u%l+", "^(.-)\n",
  "[^%s]+$",
  "(()%d+()%.()%d+)", "(.)%1", "%-%-.*\n", "z", "[aeiou][aeiou]", ".-;", "%S*_%d", "" } do
  local parts, count = {}, 0
  for a, b in text:gmatch(p) do
    count = count + 1
    if count < 8 then parts[count] = tostring(a) .. "|" .. tostring(b) end
  end
  print(show(p), count, show(table.concat(parts, ";")))
  print(show(text:find(p)), show(text:match(p, 50)), select(2, text:gsub(p, "%0%0")), #text:gsub(p, ""))
end

-- What a replacement does meanwhile: other patterns, other searches, the locale.
print((("a1 b2 c3"):gsub("(%a)(%d)", function(letter, digit)
  os.setlocale("C")
  return (letter:gsub("%a", "%0" .. digit)) .. ("x" .. digit):match("%d")
end)))

-- A search goes on after others, and in a loop that is hot.
local step = ("k1=v1, k2=v2, k3=v3"):gmatch("(%w+)=(%w+)")
local hits = 0
for i = 1, 300 do
  local k, v = ("key" .. i .. " = value"):match("^(%w+)%s*=%s*(%w+)$")
  if k == "key" .. i and v == "value" then hits = hits + 1 end
  if i % 100 == 0 then print(step()) end
end
print(hits, pcall(step))

-- Arguments of other kinds.
for i = 1, 40 do
  local n, s = 1234 + i, "12.5"
  local a, b = string.find(n, "3")
  local c = s:match("%d", "2")
  local d = ("x"):find("", 10)
  local e = ("x"):find("", 2)
  local f, g = ("abc"):find("b", -1), ("abc"):find("b", -2)
  local h = string.match("2024-05", "(%d+)-(%d+)", nil)
  local ok, message = pcall(function() return s:find() end)
  if i % 20 == 0 then print(a, b, c, d, e, f, g, h, ok, message,
    pcall(function() local x = s:match({}) end)) end
end

-- Too complex, and longer than what is translated.
for _ = 1, 3 do
  print(pcall(string.find, ("a"):rep(300), ("a?"):rep(300)))
  print(pcall(string.match, ("a"):rep(30), ("a?"):rep(20) .. ("a"):rep(20)))
  print(pcall(string.match, "abc", ("()"):rep(33)))
  print(select("#", ("abc"):match(("()"):rep(20))), ("abc"):match(("()"):rep(12)))
end
