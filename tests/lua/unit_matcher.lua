-- Recursive pattern matchers: on strings by position, on characters in tables, on trees.
local function match(p, s, i, j)
  local c = p:sub(i, i)
  if c == "" then return j > #s end
  if c == "*" then
    if match(p, s, i + 1, j) then return true end
    return j <= #s and match(p, s, i, j + 1)
  end
  if j > #s then return false end
  if c ~= "?" and c ~= s:sub(j, j) then return false end
  return match(p, s, i + 1, j + 1)
end
local patterns = { "*", "a*b", "?b*", "*ab*ba*", "a?c", "", "***b", "*a*b*c*d" }
local subjects = { "", "ab", "abc", "aabbaab", "xxabxxbaxx", "b", "abcdabcd" }
for _, p in ipairs(patterns) do
  for _, s in ipairs(subjects) do io.write(match(p, s, 1, 1) and 1 or 0, " ") end
  print(p)
end

-- The same on codes, with no calls of strings.
local function codes(s) local t = {} for i = 1, #s do t[i] = s:byte(i) end t[#s + 1] = 0 return t end
local function fits(p, s, i, j)
  local c = p[i]
  if c == 0 then return s[j] == 0 end
  if c == 42 then return fits(p, s, i + 1, j) or (s[j] ~= 0 and fits(p, s, i, j + 1)) end
  return s[j] ~= 0 and (c == 63 or c == s[j]) and fits(p, s, i + 1, j + 1)
end
local function count(p, s, i, j)
  local c = p[i]
  if c == 0 then return s[j] == 0 and 1 or 0 end
  if c == 42 then
    local n = count(p, s, i + 1, j)
    if s[j] == 0 then return n end
    return n + count(p, s, i, j + 1)
  end
  if s[j] == 0 or (c ~= 63 and c ~= s[j]) then return 0 end
  return (count(p, s, i + 1, j + 1))
end
for _, p in ipairs(patterns) do
  for _, s in ipairs(subjects) do
    io.write(tostring(fits(codes(p), codes(s), 1, 1)):sub(1, 1), count(codes(p), codes(s), 1, 1), " ")
  end
  print()
end

local function distance(a, b, i, j)
  if i == 0 then return j end
  if j == 0 then return i end
  if a[i] == b[j] then return (distance(a, b, i - 1, j - 1)) end
  local x, y, z = distance(a, b, i - 1, j), distance(a, b, i, j - 1), distance(a, b, i - 1, j - 1)
  if y < x then x = y end
  if z < x then x = z end
  return x + 1
end
local function words(a, b) local x, y = codes(a), codes(b) return distance(x, y, #a, #b) end
print(words("kitten", "sitting"), words("", "abc"), words("flaw", "lawn"), words("same", "same"))

local function equal(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return a == b or a == "_" end
  if #a ~= #b then return false end
  for i = 1, #a do if not equal(a[i], b[i]) then return false end end
  return true
end
for i = 1, 12 do
  local t = { 1, { i, { 2, { "x", i % 3 } } }, i / 2 }
  print(equal(t, { 1, { i, { 2, { "x", i % 3 } } }, i / 2 }), equal({ "_", "_", "_" }, t),
        equal({ 1, { 5, "_" }, 2.5 }, t),
        equal(t, { 1, { i, { 2, { "x" } } }, i / 2 }))
end
