-- functions of 'string' that are called as they are: every kind of argument and result
local N = 80

local function each(f)
  local last
  for i = 1, N do last = f(i) end
  return last
end

-- format: numbers, strings, booleans, nil, short and long results
local out = {}
for i = 1, N do out[#out + 1] = string.format("%d:%s", i & 7, "x") end
print(#out, out[1], out[N])
for i = 1, N do out[i] = string.format("%5.2f|%-6d|%x|%q|%s|%s|%%", i / 3, i, i, "a\n" .. i, i % 2 == 0, nil) end
print(out[1], out[N])
for i = 1, N do out[i] = string.format("%s %s", ("y"):rep(i), i + 0.5) end
print(#out[N], out[3])
for i = 1, N do out[i] = string.format("%i %g %a %c", i, i, i * 0.5, 64 + i % 26) end
print(out[1], out[N])

-- find and match: with and without captures, positions, plain, from a place on, failing
local n = 0
for i = 1, N do
  local a, b = string.find("hello world " .. i, "o w")
  n = n + a * b
end
print(n)
for i = 1, N do
  local a, b, c, d = ("key" .. i .. "=value"):find("(%w+)=(%w+)")
  n = n + a + b + #c + #d
end
print(n)
for i = 1, N do
  local a = ("a.b.c"):find(".", 1 + i % 3, true)
  n = n + a
end
print(n)
for i = 1, N do
  if ("abc"):find("x" .. i) then n = n + 1000 else n = n + 1 end
end
print(n)
for i = 1, N do  -- sometimes
  local a, b = ("12345"):find(tostring(i % 7))
  n = n + (a or 0) + (b or 0)
end
print(n)
for i = 1, N do
  local k, v = ("x" .. i .. " = y"):match("^(%w+)%s*=%s*(%w+)$")
  n = n + #k + #v
  local p = ("abc"):match("()b()")
  n = n + p
  local whole = ("  trim  "):match("%S+")
  n = n + #whole
  if not ("abc"):match("%d") then n = n + 1 end
end
print(n)

-- gsub: strings as replacements; the count; limits
local s, k
for i = 1, N do s, k = string.gsub("abcabc" .. i, "b", "[%0]") end
print(s, k)
for i = 1, N do s, k = ("hello world"):gsub("(%w+) (%w+)", "%2 %1") end
print(s, k)
for i = 1, N do s, k = ("aaaa"):gsub("a", i, 2) end
print(s, k)
for i = 1, N do s = ("x "):rep(30):gsub(" ", "") end
print(s)
-- tables and functions as replacements are left to the interpreter
for i = 1, N do s = ("a b"):gsub("%w", { a = "1", b = i }) end
print(s)
for i = 1, N do s = ("a b"):gsub("%w", function(c) return c .. i end) end
print(s)

-- gmatch: as a loop, as a function, with captures, with long pieces
local c = 0
for w in ("the quick brown fox "):rep(30):gmatch("%a+") do c = c + #w end
print(c)
for a, b in ("k1=v1,k22=v22,"):rep(20):gmatch("(%w+)=(%w+)") do c = c * 3 % 1009 + #a + #b end
print(c)
for p, w in ("ab cd "):rep(20):gmatch("()(%a+)") do c = c + p + #w end
print(c)
for w in (("z"):rep(50) .. " " .. ("z"):rep(30) .. " "):rep(20):gmatch("%a+") do c = c + #w end
print(c)
for w in ("a,,b,"):rep(20):gmatch("[^,]*") do c = c + #w + 1 end
print(c)
local step = (("w "):rep(100)):gmatch("%a")
for i = 1, 99 do local w = step() c = c + #w end
print(c, step(), step())

-- pack and unpack
for i = 1, N do
  local a, b, z, at = string.unpack("<i4i2z", string.pack("<i4i2z", i, -3, "abc"))
  n = n + a + b + #z + at
  n = n + string.packsize("i4i8") + string.unpack(">d", string.pack(">d", i / 4))
end
print(n)

-- what the lowered functions leave: ranges, separators, many characters, numbers for strings
for i = 1, N do
  local a, b, d = ("abcdef"):byte(i % 3 + 1, i % 3 + 3)
  n = n + a + b + d
  s = ("ab"):rep(3, ",") .. string.char(65, 66, 67, 68, 69, 70, 71, 72, 73, 74 + i % 3)
  s = s .. string.len(i) .. string.sub(12345, "2", 4) .. string.upper(1e15)
end
print(n, s)
