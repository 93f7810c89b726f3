-- Fills a page template for a thousand customers.
local template = [[
Dear ${title} ${name},
your order ${number} of ${count} ${article} is on its way${express}.
]]
local articles = { "lamps", "tables", "chairs", "shelves" }
local pages, length = {}, 0
for i = 1, 3000 do
    local fields = {
        title = i % 2 == 0 and "Ms" or "Mr",
        name = string.rep(string.char(65 + i % 26), i % 5 + 3),
        number = string.format("%06d", i * 7919 % 1000000),
        count = i % 9 + 1,
        article = articles[i % #articles + 1],
        express = i % 3 == 0 and " (express)" or "",
    }
    pages[i] = template:gsub("%${(%a+)}", fields)
    length = length + #pages[i]
end
print(length)
print(pages[1000])
