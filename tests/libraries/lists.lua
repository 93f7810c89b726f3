-- Penlight's lists, ordered maps, sets, strings, and text that is filled.
local List, OrderedMap, Set = require("pl.List"), require("pl.OrderedMap"), require("pl.Set")
local stringx, tablex = require("pl.stringx"), require("pl.tablex")
local text, seq = require("pl.text"), require("pl.seq")
local sum = 0
for i = 1, 12 do
  local map = OrderedMap()
  for k = 1, 150 do map:set("k" .. k % 40, k) end
  local odd = List.range(1, 600):map(function(x) return x * 3 % 1013 end)
  odd = odd:filter(function(x) return x % 2 == 1 end)
  odd:sort()
  local both = Set(seq.copy(seq.range(1, 150))) * Set(seq.copy(seq.range(100, 200)))
  local words = stringx.split(("the quick brown fox "):rep(40 + i))
  sum = sum + #map:keys() + odd:reduce(function(a, b) return (a + b) % 10007 end) + Set.len(both) + #words
  sum = sum + #text.wrap(("lorem ipsum dolor sit amet "):rep(20), 40) + #stringx.join("-", odd:slice(1, 20))
  assert(tablex.deepcompare(tablex.deepcopy(words), words))
end
print(sum)
