-- Steps of 'string.gmatch' and 'next', and several results of 'string.byte', which traces take without a call
-- where nothing can fail, in the cases that are taken so and beside them.
local function matches(text, pattern, ...)
  local found = {}
  for round = 1, 60 do
    local n = 0
    for a, b in string.gmatch(text, pattern, ...) do
      n = n + 1
      if round == 60 then found[n] = tostring(a) .. "/" .. tostring(b) end
    end
    if round == 60 then print(pattern, n, table.concat(found, " ", 1, math.min(n, 9))) end
  end
end
local text = "one two  three,four=5;six\0seven " .. ("long"):rep(12) .. " eight"
matches(text, "%a+")
matches(text, "(%a+)")
matches(text, "(%a)%a*")
matches(text, "()%a+")
matches(text, "(%a+)%s*(%a*)")
matches(text, ".")
matches(text, "")
matches(text, "%s*")
matches(text, "l.-g")
matches(text, "(l.*)g")
matches(text, "%f[%a]%a+%f[%A]")
matches(text, "(%a)%1")
matches(text, "^%a+")
matches(text, "x")
matches(text, "%a+", 5)
matches(text, "%a+", -5)
matches(text, "%a+", 100)
matches("", ".")
matches("a1b2", "%d")
matches(12345, "[1-4]")

-- A search that is gone on with elsewhere, and two at once.
local total = 0
for _ = 1, 40 do
  local step = ("a b c d e f"):gmatch("%a")
  for c in step do
    total = total + c:byte()
    if c == "c" then break end
  end
  for c in step do
    for d in ("xyz"):gmatch(".") do total = total + c:byte() * d:byte() end
  end
end
print(total)

-- What may go wrong in a pattern goes wrong at the step.
for _, pattern in ipairs { "[a", "%", "(a", "a)", "%f" } do
  local ok, message
  for _ = 1, 40 do
    ok, message = pcall(function() for _ in ("aaa"):gmatch(pattern) do total = total + 1 end end)
  end
  print(pattern, ok, (message:gsub("^.-:%d+: ", "")))
end

-- 'next' by hand: over both parts of a table, holes, other tables, values that change meanwhile.
local function walk(t)
  local n, sum = 0, 0
  local k, v = next(t)
  while k ~= nil do
    n, sum = n + 1, sum + (tonumber(v) or #v)
    t[k] = v
    k, v = next(t, k)
  end
  return n, sum
end
local mixed = { 1, 2, nil, 4, x = 5, y = "six", [2.5] = 7, [true] = 8, [1 << 40] = 9 }
local list, names, empty = {}, {}, {}
for n = 1, 20 do list[n], names["n" .. n] = n, n end
list[7], list[20], names.n3 = nil, nil, nil
for _ = 1, 40 do
  walk(mixed) walk(list) walk(names) walk(empty)
end
print(walk(mixed)) print(walk(list)) print(walk(names)) print(walk(empty))
local first = 0
for n = 1, 200 do
  local t = { [n] = n }
  if n % 3 == 0 then t[n] = nil end
  if next(t) == nil then first = first + 1 end
end
print(first)
for _ = 1, 40 do
  local ok, message = pcall(function()
    local sum = 0
    for n = 1, 30 do sum = sum + (next(list, n < 25 and n or "none") or 0) end
    return sum
  end)
  first = ok and "no error" or (message:gsub("^.-:%d+: ", ""))
end
print(first)

-- Bytes from where to where.
local bytes = "\0\1\127\128\255abc"
local sum = 0
for n = 1, 300 do
  local i, j = n % 20 - 10, n % 23 - 11
  local a, b, c = bytes:byte(i, j)
  sum = sum + (a or -1) + 3 * (b or -2) + 7 * (c or -3) + select("#", bytes:byte(i, j))
end
print(sum)
for n = 1, 60 do
  local a, b = bytes:byte(math.mininteger, 2)
  local c, d = bytes:byte(-2, math.maxinteger)
  sum = sum + a + b + c + d
end
print(sum, bytes:byte(1, -1))
print(pcall(function()
  for n = 1, 60 do
    local a, b = bytes:byte(1, n < 50 and 2 or {})
    sum = sum + a + b
  end
end))
