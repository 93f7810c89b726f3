-- String functions that traces do not know, with many captures, results and errors, from hot loops.
local gsub, find, match, rep, pack, unpack = string.gsub, string.find, string.match, string.rep, string.pack,
  string.unpack
local sum = 0
local many = rep("(%d)", 31)
for i = 1, 40 do
  local digits = rep(tostring(i % 10), 31)
  local function count(...) return select("#", ...) end
  sum = sum + count(match(digits, many)) + count(find(digits .. "x", many))
  sum = sum + select(31, match(digits, many))
  local r, n = gsub(digits, "(%d)(%d)(%d)", "%3%1")
  sum = sum + #r + n
  local s = pack("<i4d s2 z", i, i / 4, "text" .. i, "z" .. i)
  local a, b, c, d, pos = unpack("<i4d s2 z", s)
  sum = sum + a + b + #c + #d + pos
  for w, v in (("k1=v1, key=value%d"):format(i)):gmatch("(%w+)=(%w+)") do sum = sum + #w * 2 + #v end
  sum = sum + #("%q %5.2f %x %-10s|"):format("a\n" .. i, i / 3, i, "s") + utf8.len("äöü" .. i)
  for p, code in utf8.codes("aé" .. utf8.char(8364 + i)) do sum = sum + p + code end
end
print(sum)
local errors = {}
local function try(f, ...)
  local ok, e = pcall(f, ...)
  e = tostring(e):gsub("0x%x+", "addr")
  errors[e] = (errors[e] or 0) + 1
end
for i = 1, 16 do
  try(gsub, "x", "(", "y")
  try(gsub, "x", "x", "%9")
  try(rep, "x", 1 << 62)
  try(find, "x", "[a")
  try(match, "x", "%g(", 1)
  try(string.format, "%d", i + 0.5)
  try(string.format, "%y", i)
  try(unpack, "i4", "abc")
  try(utf8.codepoint, "\xff", 1)
  try(string.char, 256 + i)
  try(table.concat, { 1, {}, 3 })
  try(table.unpack, {}, 1, 1e8)
  try(select, 0)
  try(setmetatable, 1, {})
  try(math.floor, {})
  try(tostring)
end
local list = {}
for e, n in pairs(errors) do list[#list + 1] = n .. " " .. e end
table.sort(list)
print(table.concat(list, "\n"))
local t, words = {}, "the quick brown fox jumps over the lazy dog"
for i = 1, 30 do
  t = {}
  gsub(words, "%a+", function(w) t[#t + 1] = w end)
  words = gsub(words, "(%a+) (%a+)", i % 2 == 0 and "%2 %1" or "%1 %2", i % 4)
  sum = sum + #t + #table.concat(t)
end
print(words, sum)
