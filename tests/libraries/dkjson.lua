-- JSON by string patterns: values to text and back, errors with their places.
local json = require("dkjson")
local list = {}
for i = 1, 300 do
  list[i] = { id = i, name = "item " .. i, tags = { "a", "b\n", "c\"q" }, price = i * 1.25, on = i % 2 == 0,
              sub = { x = i, y = -i } }
end
for i = 1, 3 do
  local text = json.encode(list, { indent = i == 2 })
  local values, last, err = json.decode(text)
  print(#text, #values, last, err, values[77].sub.y, values[300].name, values[5].tags[3])
end
for i = 1, 40 do print(json.decode('[1, 2, {"a": ' .. ("["):rep(i % 4) .. "}]")) end
