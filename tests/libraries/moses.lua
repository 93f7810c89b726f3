-- Functions over lists.
local moses = require("moses")
local sum = 0
for i = 1, 30 do
  local numbers = moses.range(1, 400)
  local doubles = moses.map(numbers, function(v) return v * 2 + i end)
  local thirds = moses.filter(doubles, function(v) return v % 3 == 0 end)
  local groups = moses.groupBy(numbers, function(v) return v % 7 end)
  sum = (sum + moses.reduce(thirds, function(a, b) return (a + b) % 65537 end) + #groups[3]) % 1000003
  sum = sum + #moses.flatten({ numbers, { numbers, { thirds } } }) + #moses.zip(numbers, thirds)
  sum = sum + #moses.unique(moses.map(numbers, function(v) return v % 30 end))
end
print(sum)
