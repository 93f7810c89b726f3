-- Functions of 'string' without patterns: positions, lengths, and results that become short or long.
local text = "The quick brown fox jumps over the lazy dog, and 17 more of its kind: \0\1\254\255."
local sum, nils, lengths = 0, 0, 0
for i = 1, 200 do
  sum = sum + (text:byte(i % 90 - 45) or 1000) + (string.byte(text, i) or 5) + text:byte()
  local b, c = text:byte(i)
  if b == nil then nils = nils + 1 end
  if c == nil then nils = nils + 1000 end
  lengths = lengths + #text + text:len() + string.len("ab")
end
print(sum, nils, lengths)
for _, i in ipairs { 0, 1, -1, #text, -#text, #text + 1, -#text - 1, math.maxinteger, math.mininteger, 3.0 } do
  local b, n, s, e
  for k = 1, 20 do
    b = text:byte(i)
    n = select("#", text:byte(i))
    s = text:sub(i)
    e = text:sub(2, i)
  end
  print(i, b, n, #s, #e, s == text:sub(i, -1), (s:sub(1, 5) .. "|" .. e:sub(-3)):byte(1, -1))
end

-- every pair of ends, also crossed and outside
local pieces, count = {}, 0
local word = "abcdef"
for i = -8, 8 do
  for j = -8, 8 do
    pieces[#pieces + 1] = word:sub(i, j)
    count = count + #word:sub(i, j)
  end
end
print(count, table.concat(pieces, ","))

-- short and long results: the border is at 40 characters
local border = {}
for i = 1, 80 do
  local s = text:sub(1, i)
  border[i] = #s + #s:upper() + #s:rep(2) + #s:reverse() + #s:lower()
  if i == 39 or i == 40 or i == 41 then print(s, s:upper(), s:lower(), s:reverse(), s:rep(2)) end
end
print(border[1], border[20], border[21], border[40], border[41], border[80])

-- characters
local made = {}
for i = 0, 255 do
  made[i + 1] = string.char(i)
  if string.char(i, 255 - i):byte(2) ~= 255 - i or made[i + 1]:byte() ~= i then print("wrong", i) end
end
local all = table.concat(made)
print(#all, all:byte(1), all:byte(256), #string.char(), string.char(72, 101, 108.0, 108, 111))
for i = 1, 60 do made[i] = string.char(65, 66, 67, 68, 69, 70, 71, 64 + i % 26) .. string.char() end
print(made[1], made[60])

-- repetition: none, one, many
local counts = 0
for i = -20, 100 do
  counts = counts + #("ab"):rep(i) + #(""):rep(i) + #("x"):rep(i * 1.0)
end
print(counts, ("xyz"):rep(15))
print(counts)

-- a scan as a lexer makes it
local letters, digits, others, hash = 0, 0, 0, 0
for i = 1, #text do
  local c = text:byte(i)
  local one = text:sub(i, i)
  if one == " " then others = others + 1
  elseif c >= 48 and c <= 57 then digits = digits + 1
  elseif one:upper() ~= one:lower() then letters = letters + 1 end
  hash = (hash * 31 + c) % 1000003
end
print(letters, digits, others, hash)
-- strings made in the loop, kept and compared
local seen, distinct, kept = {}, 0, ""
for i = 1, 200 do
  local key = text:sub(i % 20 + 1, i % 20 + 3):upper()
  if not seen[key] then
    seen[key] = true
    distinct = distinct + 1
  end
  kept = (kept .. string.char(97 + i % 26)):sub(-60):reverse()
end
print(distinct, kept)

-- errors in a loop that is compiled
local template = [[
local good, bad, text = ...
local count = 0
print(pcall(function ()
  for i = 1, 90 do
    local x = good
    if i == 80 then x = bad end
    local r = %s
    count = i
  end
end))
print(count)
]]
local function try (expression, good, ...)
  local loop = assert(load(template:format(expression), "=loop"))
  for n = 1, select("#", ...) do
    print(expression)
    loop(good, (select(n, ...)), text)
  end
end
try("x:byte(2)", "good", nil, 12, {}, "", ("long"):rep(20))
try("string.byte(x)", "good", nil, 12, {}, "")
try("text:byte(x)", 3, nil, "3", 2.5, 3.0, 0, -1, 1000)
try("text:byte(x)", -3, nil, "3", 2.5, 3.0, 0, -1000, math.mininteger)
try("text:byte(1, x)", nil, 3)
try("text:sub(x)", 3, nil, "3", 2.5, -2, 60)
try("text:sub(x, 70)", 40, 2, 69)
try("text:sub(1, x)", 3, nil, "3", {}, -2)
try("string.sub(x, 2)", "abc", 123, nil)
try("string.char(x)", 65, 256, -1, "65", nil, 65.0, 65.5)
try("string.char(x, 66)", 65.0, 256, 2^53, -1.0)
try("string.char()", 65, 66)
try("text:rep(x)", 1, -1, 2^31, 1e300, nil, 0, 1000)
try("string.rep(x, 3)", "ab", 12, nil, ("ab"):rep(25))
try("string.rep('ab', 3, x)", nil, ", ", 7, {})
try("string.upper(x)", "ab", 12, nil, ("ab"):rep(25), "")
try("string.len(x)", "ab", 12, nil, ("ab"):rep(25), "")
try("x:reverse()", ("ab"):rep(25), 12, nil, "ba", "")
