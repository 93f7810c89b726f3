-- What the string library answers where compiled code calls it: texts short and long, searches that find
-- nothing, one part or many, and arguments that only the library itself takes.
local subjects = { "", "a", "key = value", "x=1, y=22, z=333", ("long "):rep(20), "tab\tand\nline", "-1.5e3" }
local patterns = {
    "=", "%w+", "^%s*(%w+)%s*=%s*(.*)$", "()(%d+)()", ",", "[^,]+", "^x", "$", "(a)(b?)", "%d+%.%d+",
}
local checked = 0

local function show(...)
    local parts = {}
    for i = 1, select("#", ...) do
        parts[i] = tostring((select(i, ...)))
    end
    return table.concat(parts, "|")
end

for _, pattern in ipairs(patterns) do
    for _, s in ipairs(subjects) do
        local found, matched
        for i = 1, 12 do
            local a, b = s:find(pattern, i - 3)
            local c, d, e = s:match(pattern)
            local f = s:match(pattern, i)
            local g, h = s:find(pattern, 1, i % 2 == 0)
            found, matched = show(a, b, g, h), show(c, d, e, f)
            checked = checked + (a or 0) + (g or 0) + #tostring(c) + (type(e) == "number" and e or 0)
        end
        print(#s, pattern, found, matched)
    end
end
print(checked)

local forms = {
    "%d", "%5d|", "%-5d|", "%05d", "%+d", "% d", "%x", "%#X", "%c", "%s", "%10s|", "%-10s|", "%%", "%i",
}
for _, form in ipairs(forms) do
    local text
    for i = 1, 12 do
        text = string.format(form, 60 + i)
    end
    print(form, text)
end
local text = ""
for i = 1, 40 do
    local n = i * 7.25
    text = string.format("%s %3d %.2f %g %s %q", "n" .. i, i, n, n, i % 2 == 0, "q" .. i)
    if i % 10 == 0 then print(text) end
    text = string.format("%07d", i * i) .. string.format("%-8s", text:sub(1, i % 9))
    text = text .. string.format("%.3s", "abcdef")
end
print(text)
local all = 0
for i = 1, 60 do
    local s = ("Word"):rep(i % 15)
    local u, l, r = s:upper(), s:lower(), s:reverse()
    all = all + #u + #l + #r + #string.rep(u, i % 4) + #string.rep("ab", 3, ",")
    if i % 20 == 14 then print(u, l, r) end
end
print(all)
-- Errors are the library's.
for i = 1, 30 do
    local ok, why = pcall(string.format, "%d", i == 30 and "x" or i)
    if not ok then print(why) end
    ok, why = pcall(string.find, "abc", i == 29 and "[a" or "b")
    if not ok then print(why) end
    ok, why = pcall(string.rep, "x", i == 28 and {} or i)
    if not ok then print((why:gsub("table: %S+", "table"))) end
end
