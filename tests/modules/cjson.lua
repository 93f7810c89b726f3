-- Values to text and back, numbers, nulls, errors; in loops.
local json = require("cjson")
local text, bytes = nil, 0
for i = 1, 3000 do
  text = json.encode({ i, i / 4, "name" .. i, i % 2 == 0, { nested = {} } })
  bytes = bytes + #text
end
print("encoded", bytes, text)

local sum, names = 0, 0
for i = 1, 3000 do
  local value = json.decode('{"id": ' .. i .. ', "tags": ["a", "b", "c' .. i .. '"], "none": null, "half": 0.5}')
  sum = sum + value.id + value.half
  if value.none == json.null then names = names + #value.tags[3] end
end
print("decoded", sum, names)

local equal = 0
for i = 1, 2000 do
  local list = {}
  for k = 1, i % 6 do list[k] = { k, tostring(k) } end
  local back = json.decode(json.encode(list))
  local same = #back == #list
  for k, pair in ipairs(back) do same = same and pair[1] == k and pair[2] == tostring(k) end
  if same then equal = equal + 1 end
end
print("round trips", equal)

local failures, last = 0, nil
for i = 1, 1000 do
  local fine, why = pcall(json.decode, i % 3 == 0 and "[1, 2" or "[1, 2]")
  if not fine then failures, last = failures + 1, why end
end
print("failures", failures, last)
print(pcall(json.encode, { print }))
print(pcall(json.encode, { [1] = 1, [1000] = 2 }))
