-- Strings built and read by recursion: one character at a time, by halves, with keys that are made,
-- comparisons of strings, and results that are strings in some levels.
local function reverse(s) if #s <= 1 then return s end return reverse(s:sub(2)) .. s:sub(1, 1) end
local function halves(s)
  if #s < 2 then return s:upper() end
  local m = #s // 2
  return halves(s:sub(m + 1)) .. halves(s:sub(1, m))
end
local function palindrome(s, i, j)
  if i >= j then return true end
  if s:byte(i) ~= s:byte(j) then return false end
  return (palindrome(s, i + 1, j - 1))
end
local function count(s, i, c)
  if i > #s then return 0 end
  return count(s, i + 1, c) + (s:sub(i, i) == c and 1 or 0)
end
local function number(s, i, v)
  local b = s:byte(i)
  if not b then return v end
  if b == 46 then return v + 0.0 end
  return (number(s, i + 1, v * 10 + b - 48))
end
local function binary(n) if n < 2 then return tostring(n) end return binary(n // 2) .. n % 2 end
local function longest(list, i, best)
  local s = list[i]
  if not s then return best end
  if #s > #best or #s == #best and s < best then best = s end
  return (longest(list, i + 1, best))
end
local words = { "a", "level", "abc", "", "racecar", "aab", "hello world", "xyzzyx" }
for i, w in ipairs(words) do
  print(reverse(w), halves(w), palindrome(w, 1, #w), count(w, 1, "a"), binary(i * 37), longest(words, i, ""))
end
for i = 1, 20 do io.write(number(tostring(i * 777), 1, 0), " ", number(i / 4 .. "", 1, 0), " ") end
print()
local names = {}
local function name(n) if n == 0 then return "n" end local k = name(n - 1) .. n % 10 names[k] = n return k end
for i = 1, 12 do io.write(name(i), i % 6 == 0 and "\n" or " ") end
local function known(k, n)
  if n == 0 then return #k end
  k = k .. n % 10
  return names[k] and known(k, n - 1) or k
end
local function follow(k, n)
  local v = names[k]
  if v == nil then return n end
  return follow(k .. (v + 1) % 10, n + 1)
end
print(known("n", 1), known("n", 4), follow("n1", 0), follow("n12", 0), follow("x", 0))
local function maybe(n)
  if n == 0 then return "end" end
  local r = maybe(n - 1)
  return n % 4 == 0 and r .. n or n % 4 == 1 and r or n % 4 == 2 and n or #r
end
local function safe(n) local ok, r = pcall(maybe, n) return ok and r or "error" end
for i = 0, 24 do io.write(safe(i), " ") end
print()
local function compare(a, b, i)
  local x, y = a:sub(i, i), b:sub(i, i)
  if x == "" and y == "" then return 0 elseif x == y then return (compare(a, b, i + 1)) end
  return x < y and -1 or 1
end
for _, a in ipairs(words) do for _, b in ipairs(words) do io.write(compare(a, b, 1), " ") end end
print()
local function pieces(n, t)
  if n == 0 then return table.concat(t) end
  t[#t + 1] = ("%02d;"):format(n)
  return pieces(n - 1, t)
end
print(pieces(20, {}), #pieces(300, { "x" }))
