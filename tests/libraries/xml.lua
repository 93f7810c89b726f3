-- Penlight's documents: text to trees and back, and walks along them.
local xml = require("pl.xml")
local parts = {}
local item = '<item id="%d" class="c%d"><name>Name %d</name><p>text <b>bold</b> &amp; more</p></item>'
for i = 1, 80 do parts[i] = item:format(i, i % 5, i) end
local source, sum = "<root>" .. table.concat(parts) .. "</root>", 0
for _ = 1, 5 do
  local document = xml.parse(source, false, true)
  sum = sum + #document:get_elements_with_name("b") + #document:child_with_name("item"):get_attribs().id
  for _, element in ipairs(document:get_elements_with_name("name")) do sum = sum + #element:get_text() end
  xml.walk(document, true, function(tag) sum = sum + #tag end)
end
print(sum)
