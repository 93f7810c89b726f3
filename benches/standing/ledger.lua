-- A report from an account book that is text: read it by patterns, check it, sort it, sum it up by month,
-- account and payee, and print tables.

local fmt, rep = string.format, string.rep

------------------------------------------------------------ making a book
local function make_book(entries)
    local seed = 1968
    local function random(n)
        seed = (seed * 16807) % 2147483647
        return seed % n + 1
    end
    local payees = {
        { "Baker & Sons", "expenses:food" }, { "City Power", "expenses:home:power" }, { "Rent", "expenses:home:rent" },
        { "Bookshop", "expenses:fun:books" }, { "Cinema", "expenses:fun" }, { "Employer", "income:salary" },
        { "Garage Olsen", "expenses:car" }, { "Market", "expenses:food" }, { "Aunt Mary", "income:gifts" },
        { "Dentist", "expenses:health" },
    }
    local from = { "assets:bank", "assets:bank", "assets:cash", "liabilities:card" }
    local lines = { "; account book", "" }
    local function line(...) lines[#lines + 1] = fmt(...) end
    for _ = 1, entries do
        local payee = payees[random(#payees)]
        local cents = payee[2]:find("^income") and 50000 + random(90000) or random(20000)
        line("%04d-%02d-%02d %s%s", 2018 + random(3), random(12), random(28), random(4) == 1 and "* " or "", payee[1])
        if random(6) == 1 then line("    ; note: nr %d, %s", random(999), random(2) == 1 and "paid late" or "see letter") end
        local sign = payee[2]:find("^income") and "-" or ""
        if random(5) == 1 then
            -- Parted into two accounts, the rest left to be found.
            local part = random(cents)
            line("    %-28s %s%d.%02d", payee[2], sign, math.floor(part / 100), part % 100)
            line("    %-28s %s%d.%02d", "expenses:other", sign, math.floor((cents - part) / 100), (cents - part) % 100)
            line("    %s", from[random(4)])
        elseif random(3) == 1 then
            line("    %-28s %s%d.%02d", payee[2], sign, math.floor(cents / 100), cents % 100)
            line("    %-28s %s%d.%02d", from[random(4)], sign == "" and "-" or "", math.floor(cents / 100), cents % 100)
        else
            line("    %-28s %s%d.%02d EUR", payee[2], sign, math.floor(cents / 100), cents % 100)
            line("    %s", from[random(4)])
        end
        if random(40) == 1 then line("    expenses:lost  1.00") end
        line("")
    end
    return table.concat(lines, "\n") .. "\n"
end

----------------------------------------------------------------- reading
local function parse_amount(s)
    local sign, whole, cents = s:match("^(%-?)(%d+)%.(%d%d)")
    if not whole then return nil end
    local n = tonumber(whole) * 100 + tonumber(cents)
    return sign == "-" and -n or n
end

local function parse(text)
    local entries, problems = {}, {}
    local entry, number = nil, 0
    local function finish()
        if not entry then return end
        local sum, open = 0, nil
        for _, p in ipairs(entry.postings) do
            if p.amount then
                sum = sum + p.amount
            elseif open then
                problems[#problems + 1] = fmt("line %d: two amounts are missing", entry.line)
            else
                open = p
            end
        end
        if open then
            open.amount = -sum
        elseif sum ~= 0 then
            problems[#problems + 1] = fmt("line %d: %s does not add up, %.2f", entry.line, entry.payee, sum / 100)
            entry = nil
            return
        end
        entries[#entries + 1] = entry
        entry = nil
    end
    for line in text:gmatch("([^\n]*)\n") do
        number = number + 1
        local year, month, day, rest = line:match("^(%d%d%d%d)-(%d%d)-(%d%d)%s+(.+)$")
        if year then
            finish()
            local star, payee = rest:match("^(%*?)%s*(.-)%s*$")
            entry = {
                line = number, year = tonumber(year), month = tonumber(month), day = tonumber(day),
                payee = payee, cleared = star == "*", postings = {}, notes = {},
            }
        elseif line:find("^%s+;") then
            if entry then entry.notes[#entry.notes + 1] = line:match(";%s*(.*)$") end
        elseif line:find("^%s+%S") then
            local account, amount = line:match("^%s+(%S+)%s*(.-)%s*$")
            if entry then
                entry.postings[#entry.postings + 1] = { account = account, amount = amount ~= "" and parse_amount(amount) or nil }
            end
        elseif line == "" then
            finish()
        end
    end
    finish()
    return entries, problems
end

----------------------------------------------------------------- sorting
local function by_date(a, b)
    if a.year ~= b.year then return a.year < b.year end
    if a.month ~= b.month then return a.month < b.month end
    if a.day ~= b.day then return a.day < b.day end
    if a.payee ~= b.payee then return a.payee < b.payee end
    return a.line < b.line
end

local function sorted_keys(t)
    local keys = {}
    for k in pairs(t) do keys[#keys + 1] = k end
    table.sort(keys)
    return keys
end

---------------------------------------------------------------- printing
local out = {}
local function put(...) out[#out + 1] = fmt(...) end

local function money(cents)
    local sign = cents < 0 and "-" or ""
    cents = math.abs(cents)
    local whole = fmt("%d", math.floor(cents / 100))
    local n
    repeat
        whole, n = whole:gsub("^(%d+)(%d%d%d)", "%1,%2")
    until n == 0
    return fmt("%s%s.%02d", sign, whole, cents % 100)
end

local function balances(entries)
    local totals = {}
    for _, e in ipairs(entries) do
        for _, p in ipairs(e.postings) do
            -- Each account counts for all those above it.
            local path
            for part in p.account:gmatch("[^:]+") do
                path = path and path .. ":" .. part or part
                totals[path] = (totals[path] or 0) + p.amount
            end
        end
    end
    return totals
end

local function print_balances(title, totals)
    put("%s", title)
    for _, account in ipairs(sorted_keys(totals)) do
        local depth = select(2, account:gsub(":", ""))
        put("%16s  %s%s", money(totals[account]), rep("  ", depth), account:match("[^:]+$"))
    end
end

local function print_register(entries, pattern, limit)
    put("register of %s", pattern)
    local balance, shown = 0, 0
    for _, e in ipairs(entries) do
        for _, p in ipairs(e.postings) do
            if p.account:find(pattern) then
                balance = balance + p.amount
                shown = shown + 1
                local row = fmt("%04d-%02d-%02d %s %-14.14s %-22s %12s %14s", e.year, e.month, e.day, e.cleared and "*" or " ",
                    e.payee, p.account, money(p.amount), money(balance))
                if shown % limit == 0 then put("%s", row) end
            end
        end
    end
    put("%d rows, balance %s", shown, money(balance))
end

local function print_months(entries)
    local months, names = {}, {}
    for _, e in ipairs(entries) do
        local key = fmt("%d-%02d", e.year, e.month)
        local row = months[key] or {}
        months[key] = row
        for _, p in ipairs(e.postings) do
            local top = p.account:match("^([^:]+)")
            row[top] = (row[top] or 0) + p.amount
            names[top] = true
        end
    end
    local columns = sorted_keys(names)
    put("%-8s%s", "month", table.concat(columns, "    "))
    for _, key in ipairs(sorted_keys(months)) do
        local cells = {}
        for i, name in ipairs(columns) do cells[i] = fmt("%12s", money(months[key][name] or 0)) end
        put("%-8s%s", key, table.concat(cells))
    end
end

local function print_payees(entries, count)
    local payees, list = {}, {}
    for _, e in ipairs(entries) do
        local p = payees[e.payee]
        if not p then
            p = { name = e.payee, n = 0, sum = 0, cleared = 0, largest = 0, notes = 0 }
            payees[e.payee] = p
            list[#list + 1] = p
        end
        p.n = p.n + 1
        local amount = math.abs(e.postings[1].amount)
        p.sum = p.sum + amount
        p.largest = math.max(p.largest, amount)
        p.notes = p.notes + #e.notes
        if e.cleared then p.cleared = p.cleared + 1 end
    end
    table.sort(list, function(a, b)
        if a.sum ~= b.sum then return a.sum > b.sum end
        return a.name < b.name
    end)
    for i = 1, math.min(count, #list) do
        local p = list[i]
        put("%-14s %4d times, %3d%% cleared, %3d notes, mean %10s, largest %10s", p.name, p.n,
            math.floor(100 * p.cleared / p.n), p.notes, money(math.floor(p.sum / p.n)), money(p.largest))
    end
end

-------------------------------------------------------------------- main
local book = make_book(15000)
local entries, problems = parse(book)
table.sort(entries, by_date)
put("%d bytes, %d entries, %d problems, the last: %s", #book, #entries, #problems, problems[#problems])
print_balances("all", balances(entries))
for year = 2019, 2021 do
    local of_year = {}
    for _, e in ipairs(entries) do
        if e.year == year then of_year[#of_year + 1] = e end
    end
    print_balances(tostring(year), balances(of_year))
    print_payees(of_year, 3)
end
print_register(entries, "^assets:bank", 100)
print_register(entries, "^expenses:home", 50)
print_months(entries)
print_payees(entries, 100)

local text = table.concat(out, "\n")
local check = 0
for i = 1, #text do check = (check * 31 + text:byte(i)) % 1000003 end
print(out[1])
print(text:match("\nall\n(.-)\n2019\n"))
print(text:match("register of %^assets:bank\n([^\n]+)"))
print(out[#out])
print(#out .. " lines, check " .. check)
