-- A trie and UTF-8: completion, longest prefixes, code points, reversal of characters, anagrams, edit by one letter.
local function trie() return { [0] = 0 } end
local function add(t, word)
  for _, c in utf8.codes(word) do
    t[0] = t[0] + 1
    local k = utf8.char(c)
    t[k] = t[k] or trie()
    t = t[k]
  end
  t[0], t[1] = t[0] + 1, true
end
local function walk(t, prefix, out)
  if t[1] then out[#out + 1] = prefix end
  local keys = {}
  for k in pairs(t) do if type(k) == "string" then keys[#keys + 1] = k end end
  table.sort(keys)
  for _, k in ipairs(keys) do walk(t[k], prefix .. k, out) end
  return out
end
local function complete(t, prefix)
  for c in prefix:gmatch(utf8.charpattern) do
    t = t[c]
    if not t then return {} end
  end
  return walk(t, prefix, {})
end
local words = {}
for w in ("car card care cat catalog dog döner dörfer do done über übung ünal 日本 日本語 日 ein eine einer"):gmatch("%S+") do words[#words + 1] = w end
local root = trie()
for _, w in ipairs(words) do add(root, w) end
for _, p in ipairs { "car", "cat", "d", "dö", "ü", "日", "x", "ein" } do print(p, table.concat(complete(root, p), " ")) end
local found = 0
for i = 1, 80 do found = found + #complete(root, words[i % #words + 1]:sub(1, 1)) + root[0] end
print(found)
local function longest(t, text, from)
  local best, at = nil, from
  while true do
    local stop = utf8.offset(text, 2, at)
    if not stop then break end
    t = t[text:sub(at, stop - 1)]
    if not t then break end
    if t[1] then best = stop - 1 end
    at = stop
    if at > #text then break end
  end
  return best
end
local text, pieces, at = "cardogüberx日本語eineinerdönercatalog", {}, 1
while at <= #text do
  local stop = longest(root, text, at)
  if stop then pieces[#pieces + 1] = text:sub(at, stop) at = stop + 1
  else
    pieces[#pieces + 1] = "?"
    at = utf8.offset(text, 2, at)
  end
end
print(table.concat(pieces, "|"))
local function reverse(s)
  local out = {}
  for _, c in utf8.codes(s) do table.insert(out, 1, utf8.char(c)) end
  return table.concat(out)
end
local back, points, bytes = 0, 0, 0
for i = 1, 100 do
  local w = words[i % #words + 1]
  if reverse(reverse(w)) == w then back = back + 1 end
  points, bytes = points + utf8.len(w), bytes + #w
end
print(back, points, bytes, reverse("日本語 über"))
local sum = 0
for i = 1, 120 do
  local c = i * i * 7 % 0x2000
  local s = utf8.char(c, c + 1)
  local a, b = utf8.codepoint(s, 1, -1)
  sum = sum + a - c + b - c + #s
end
print(sum, utf8.char(), utf8.char(72, 228, 8364, 0x10FFFF):byte(1, -1))
print(utf8.len("\xff"), utf8.len("abc\xe4"), pcall(utf8.codepoint, "\xff"), utf8.len("äöü", 3), utf8.offset("aäb", -1))
print(pcall(function() for _ in utf8.codes("ab\xff") do end end))
local groups, names = {}, {}
for w in ("listen silent enlist inlets google elbow below state taste night thing abc cab bca"):gmatch("%a+") do
  local letters = { w:byte(1, -1) }
  table.sort(letters)
  local key = string.char(table.unpack(letters))
  if not groups[key] then names[#names + 1], groups[key] = key, {} end
  table.insert(groups[key], w)
end
for _, k in ipairs(names) do if #groups[k] > 1 then print(k, table.concat(groups[k], " ")) end end
local known, near = { hello = true, help = true, hold = true, world = true, word = true }, 0
for _, w in ipairs { "hallo", "wold", "worlld", "hld", "xyz", "helo" } do
  local hits, seen = {}, {}
  local function try(c) if known[c] and not seen[c] then seen[c] = true hits[#hits + 1] = c end end
  for i = 1, #w + 1 do
    local a, b = w:sub(1, i - 1), w:sub(i)
    if #b > 0 then try(a .. b:sub(2)) end
    if #b > 1 then try(a .. b:sub(2, 2) .. b:sub(1, 1) .. b:sub(3)) end
    for c = 97, 122 do
      local l = string.char(c)
      if #b > 0 then try(a .. l .. b:sub(2)) end
      try(a .. l .. b)
      near = near + 1
    end
  end
  table.sort(hits)
  print(w, table.concat(hits, " "))
end
print(near)
