-- Reads sales records in CSV (quoted fields, doubled quotes, new lines inside quotes, CRLF and LF, another delimiter in
-- some files), converts the columns, and makes the tables that somebody wants to see on Monday.

local csv = {}

-- One record at a time. options: delimiter, header (first record gives the names), convert (by column name).
function csv.records(text, options)
    options = options or {}
    local delimiter = (options.delimiter or ","):byte()
    local convert = options.convert or {}
    local pos, size, line = 1, #text, 1
    local names

    local function quoted_field()
        local buffer
        local start = pos + 1
        while true do
            local quote = text:find('"', start, true)
            if not quote then
                error(("line %d: quote is never closed"):format(line), 0)
            end
            local piece = text:sub(start, quote - 1)
            for _ in piece:gmatch("\n") do line = line + 1 end
            buffer = buffer and buffer .. piece or piece
            if text:byte(quote + 1) == 34 then
                buffer = buffer .. '"'
                start = quote + 2
            else
                pos = quote + 1
                return buffer
            end
        end
    end

    local function plain_field()
        local start = pos
        while pos <= size do
            local b = text:byte(pos)
            if b == delimiter or b == 10 or b == 13 then break end
            pos = pos + 1
        end
        return text:sub(start, pos - 1)
    end

    local function record()
        local fields, n = {}, 0
        while true do
            n = n + 1
            if text:byte(pos) == 34 then
                fields[n] = quoted_field()
            else
                fields[n] = plain_field()
            end
            local b = text:byte(pos)
            if b == delimiter then
                pos = pos + 1
            elseif b == nil then
                return fields
            elseif b == 10 then
                pos = pos + 1
                return fields
            elseif b == 13 and text:byte(pos + 1) == 10 then
                pos = pos + 2
                return fields
            else
                error(("line %d: text after a quoted field"):format(line), 0)
            end
        end
    end

    if options.header then names = record(); line = line + 1 end

    return function()
        -- Empty lines are no records.
        while pos <= size and (text:byte(pos) == 10 or text:byte(pos) == 13) do
            if text:byte(pos) == 10 then line = line + 1 end
            pos = pos + 1
        end
        if pos > size then return nil end
        local first = line
        local fields = record()
        line = line + 1
        if not names then return fields, first end
        local row = {}
        for i, name in ipairs(names) do
            local value = fields[i]
            local converter = convert[name]
            if converter and value then value = converter(value) end
            row[name] = value
        end
        return row, first
    end
end

--------------------------------------------------------------------------------------------------------------

local seed = 314159
local function rnd(n)
    seed = seed * 16807 % 2147483647
    return seed % n + 1
end

local regions = { "North", "South", "East", "West", "Overseas", "" }
local products = { "Lamp, brass", "Chair", 'Table "Oslo"', "Shelf", "Rug, 2x3 m", "Mirror", "Desk", "Sofa \"Big\", red", "Vase" }
local people = { "Ann", "Bertrand", "Chen, Li", "Dora", "Eve \"Evi\" Smith", "Farid", "Greta\nHolm", "Hugo" }

local function quote(field)
    if field:find('[",;\r\n]') or rnd(15) == 1 then
        return '"' .. field:gsub('"', '""') .. '"'
    end
    return field
end

local function make_file(rows, delimiter, newline)
    local out = { table.concat({ "date", "region", "seller", "product", "count", "price", "comment" }, delimiter) }
    for i = 1, rows do
        local fields = {
            ("%04d-%02d-%02d"):format(2019 + rnd(5), rnd(12), rnd(28)),
            regions[rnd(#regions)],
            people[rnd(rnd(#people))],
            products[rnd(#products)],
            rnd(20) == 1 and "n/a" or tostring(rnd(60)),
            ("%d.%02d"):format(rnd(900), rnd(100) - 1),
            rnd(3) == 1 and "delivered; paid late, " .. rnd(99) .. " days" or "",
        }
        for j = 1, #fields do fields[j] = quote(fields[j]) end
        out[#out + 1] = table.concat(fields, delimiter)
        if rnd(200) == 1 then out[#out + 1] = "" end
    end
    return table.concat(out, newline) .. newline
end

local function group(groups, key, row)
    local g = groups[key]
    if not g then
        g = { key = key, n = 0, count = 0, cents = 0, max = 0 }
        groups[key] = g
        groups[#groups + 1] = g
    end
    local cents = row.price * row.count
    g.n = g.n + 1
    g.count = g.count + row.count
    g.cents = g.cents + cents
    if cents > g.max then g.max = cents end
end

local function report(title, groups, limit)
    table.sort(groups, function(a, b)
        if a.cents ~= b.cents then return a.cents > b.cents end
        return a.key < b.key
    end)
    print(("%-12s %6s %7s %14s %10s"):format(title, "sales", "pieces", "turnover", "largest"))
    for i = 1, math.min(limit, #groups) do
        local g = groups[i]
        print(("%-12s %6d %7d %14.2f %10.2f"):format(g.key:gsub("\n", " "):sub(1, 12), g.n, g.count, g.cents / 100, g.max / 100))
    end
end

local convert = {
    date = function(s)
        local year, month, day = s:match("^(%d+)-(%d+)-(%d+)$")
        return { year = tonumber(year), month = tonumber(month), day = tonumber(day) }
    end,
    count = function(s) return tonumber(s) end,
    price = function(s)
        local whole, cents = s:match("^(%d+)%.(%d%d)$")
        return tonumber(whole) * 100 + tonumber(cents)
    end,
}

local by_region, by_product, by_seller, by_month = {}, {}, {}, {}
local lines, skipped, bytes, late, commented = 0, 0, 0, 0, 0
for file = 1, 36 do
    local delimiter = file % 3 == 0 and ";" or ","
    local text = make_file(1200 + rnd(400), delimiter, file % 2 == 0 and "\r\n" or "\n")
    bytes = bytes + #text
    for row, line in csv.records(text, { header = true, delimiter = delimiter, convert = convert }) do
        lines = lines + line % 7
        if not row.count then
            skipped = skipped + 1
        else
            group(by_region, row.region == "" and "(none)" or row.region, row)
            group(by_product, row.product, row)
            group(by_seller, row.seller, row)
            group(by_month, ("%d-%02d"):format(row.date.year, row.date.month), row)
            if row.comment ~= "" then
                commented = commented + 1
                late = late + tonumber(row.comment:match("(%d+) days"))
            end
        end
    end
end
report("region", by_region, 10)
report("product", by_product, 10)
report("seller", by_seller, 3)
report("month", by_month, 5)
print("bytes", bytes, "lines", lines, "skipped", skipped, "days late", ("%.3f"):format(late / commented))
for _, bad in ipairs({ 'a,"b', 'a\n"b"c,d\n' }) do
    print(pcall(function() for _ in csv.records(bad) do end end))
end
