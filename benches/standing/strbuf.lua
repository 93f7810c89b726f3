-- Building large texts: buffers of pieces, .., string.format, rep, reverse, byte and char.

local Buffer = {}
Buffer.__index = Buffer

function Buffer.new()
    return setmetatable({ pieces = {}, n = 0, length = 0 }, Buffer)
end

function Buffer:add(...)
    for i = 1, select("#", ...) do
        local s = tostring((select(i, ...)))
        self.n = self.n + 1
        self.pieces[self.n] = s
        self.length = self.length + #s
    end
    return self
end

function Buffer:addf(format, ...)
    return self:add(string.format(format, ...))
end

function Buffer:text()
    local s = table.concat(self.pieces, "", 1, self.n)
    self.pieces, self.n = { s }, 1
    return s
end

local function adler(s)
    local a, b = 1, 0
    for i = 1, #s do
        a = (a + s:byte(i)) % 65521
        b = (b + a) % 65521
    end
    return b * 65536 + a
end

local function report(title, s)
    print(string.format("%-10s %7d bytes, %d", title, #s, adler(s)))
end

local seed = 77
local function random(n)
    seed = (seed * 16807) % 2147483647
    return seed % n + 1
end

local nouns = { "harbour", "lamp", "river", "orchard", "letter", "bridge", "engine", "clock", "winter", "ox" }
local verbs = { "follows", "mends", "hides", "carries", "is", "outlives", "paints" }
local function sentence()
    local s = "the " .. nouns[random(#nouns)] .. " " .. verbs[random(#verbs)] .. " the "
    if random(3) == 1 then s = s .. "old " end
    s = s .. nouns[random(#nouns)]
    if random(4) == 1 then s = s .. ", and " .. sentence() end
    return s
end

local paragraphs = {}
for i = 1, 900 do
    local t = {}
    for j = 1, 3 + random(5) do
        local s = sentence()
        t[j] = s:sub(1, 1):upper() .. s:sub(2) .. "."
    end
    paragraphs[i] = table.concat(t, " ")
end
local book = table.concat(paragraphs, "\n\n")
report("book", book)

-- Lines of at most 'width' characters, words not broken, both margins straight.
local function justify(text, width)
    local out, line, length = {}, {}, 0
    local function flush(last)
        if #line == 0 then return end
        if last or #line == 1 then
            out[#out + 1] = table.concat(line, " ")
        else
            local gaps, spaces = #line - 1, width - length
            local s = line[1]
            for i = 2, #line do
                local n = math.floor(spaces * (i - 1) / gaps) - math.floor(spaces * (i - 2) / gaps)
                s = s .. (" "):rep(n) .. line[i]
            end
            out[#out + 1] = s
        end
        line, length = {}, 0
    end
    for word in text:gmatch("%S+") do
        if length + #line + #word > width then flush(false) end
        line[#line + 1] = word
        length = length + #word
    end
    flush(true)
    return table.concat(out, "\n")
end

local justified = Buffer.new()
for i, p in ipairs(paragraphs) do
    justified:add(justify(p, 30 + i % 50), "\n\n")
end
report("justified", justified:text())

-- A table of numbers with rules, as text.
local function rule(widths)
    local t = {}
    for i, w in ipairs(widths) do t[i] = ("-"):rep(w + 2) end
    return "+" .. table.concat(t, "+") .. "+\n"
end

local widths = { 6, 10, 12, 20 }
local grid = Buffer.new():add(rule(widths))
for i = 1, 8000 do
    local x = random(100000)
    grid:addf("| %6d | %10.3f | %12x | %-20s |\n", i, x / 7, x * 31, nouns[random(#nouns)] .. "-" .. x)
    if i % 10 == 0 then grid:add(rule(widths)) end
end
report("grid", grid:text())

-- A page with escapes.
local escapes = { ["<"] = "&lt;", [">"] = "&gt;", ["&"] = "&amp;", ['"'] = "&quot;" }
local function escape(s)
    return (s:gsub('[<>&"]', escapes))
end

local page = Buffer.new()
page:add("<html><body>\n")
for i = 1, 2500 do
    page:add("<p id=\"", i, "\">")
    for _ = 1, random(4) do
        local s = sentence()
        if random(3) == 1 then s = '"' .. s .. '" & <' .. #s .. ">" end
        page:add(escape(s), " ")
    end
    page:add("</p>\n")
end
page:add("</body></html>\n")
report("page", page:text())

-- A hex dump.
local function dump(s)
    local lines = {}
    for at = 1, #s, 16 do
        local part = s:sub(at, at + 15)
        local hex = part:gsub(".", function(c) return ("%02x "):format(c:byte()) end)
        lines[#lines + 1] = ("%06x  %-48s %s"):format(at - 1, hex, (part:gsub("[%c\128-\255]", ".")))
    end
    return table.concat(lines, "\n")
end
report("dump", dump(book:sub(1, 120000)))

-- Character by character: a Caesar shift, there and back, and run lengths.
local function shift(s, by)
    local out = {}
    for i = 1, #s do
        local c = s:byte(i)
        if c >= 97 and c <= 122 then
            c = (c - 97 + by) % 26 + 97
        elseif c >= 65 and c <= 90 then
            c = (c - 65 + by) % 26 + 65
        end
        out[i] = string.char(c)
    end
    return table.concat(out)
end
local secret = shift(book, 11)
report("secret", secret)
assert(shift(secret, -11) == book)

local function run_lengths(s)
    local out, i = "", 1
    local buffer = Buffer.new()
    while i <= #s do
        local c, j = s:sub(i, i), i
        while s:sub(j + 1, j + 1) == c do j = j + 1 end
        out = out .. (j > i and (j - i + 1) .. c or c)
        if #out > 200 then
            buffer:add(out)
            out = ""
        end
        i = j + 1
    end
    return buffer:add(out):text()
end
report("runs", run_lengths(grid:text()))

-- Words turned round, and palindromes among all the pieces of the book.
local turned = book:gsub("%a+", string.reverse)
report("turned", turned)
local palindromes, longest = 0, ""
for line in book:gmatch("[^\n]+") do
    for i = 1, #line - 2 do
        for n = 3, 7 do
            local piece = line:sub(i, i + n - 1)
            if #piece == n and piece == piece:reverse() then
                palindromes = palindromes + 1
                if n > #longest then longest = piece end
            end
        end
    end
end
print("palindromes " .. palindromes .. ", the first of the longest '" .. longest .. "'")

-- Growing at the front, a piece at a time.
local stack = ""
for i = 1, 15000 do
    stack = i .. (i % 2 == 0 and "," or ";") .. stack
    if #stack > 3000 then stack = stack:sub(1, 1500) end
end
report("stack", stack)
