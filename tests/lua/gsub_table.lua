-- 'string.gsub' with a table: keys that no string of the program is, that are there, that a metamethod finds.
local entities = { ["<"] = "&lt;", [">"] = "&gt;", ["&"] = "&amp;", ["-"] = false, n = 12, f = 2.5 }

local function show(...)
    print(select("#", ...), ...)
end

for _ = 1, 30 do
    ("a < b"):gsub("[<>&]", entities)
end
show(("a <b> & -c- n f"):gsub("[<>&]", entities))
show(("a <b> & -c- n f"):gsub("%S", entities))
show(("a <b> & -c- n f"):gsub(".", entities, 7))
show(("no match"):gsub("[<>&]", entities))
show((""):gsub("x*", { [""] = "empty" }))
show(("abc"):gsub("x*", { [""] = "-" }))
show(("key=value; other=thing"):gsub("(%w+)=(%w+)", { key = "K", other = true and "O" }))
show(("at 1"):gsub("()%d", { [4] = "four" }))
show(("$name and $none"):gsub("%$(%w+)", { name = "someone" }))
show(("a.b"):gsub("%.", { ["."] = ("x"):rep(5000) }))
show(#("a.b.c"):gsub("%.", { ["."] = ("x"):rep(100000) }))
show(pcall(string.gsub, "abc", "b", { b = {} }))
show(pcall(string.gsub, "abc", "b", { b = print }) == false)
show(pcall(string.gsub, "abc", "b", { b = true }))

-- Keys of all lengths, those that were there before and those that come from the subject only.
local lengths = {}
for n = 1, 60 do
    lengths[("k"):rep(n)] = "<" .. n .. ">"
end
local out = {}
for n = 1, 62 do
    out[n] = (("k"):rep(n) .. " " .. ("q"):rep(n)):gsub("%a+", lengths)
end
print(table.concat(out, ","))

-- Metamethods: a function, a table, none for keys that are there; a raw table that has one without '__index'.
local asked = {}
local lazy = setmetatable({ here = "H" }, {
    __index = function(_, key)
        asked[#asked + 1] = key
        return key ~= "none" and key:upper() or nil
    end,
})
show(("here there none fresh" .. #asked):gsub("%a+", lazy))
print(table.concat(asked, " "))
show(("one two"):gsub("%a+", setmetatable({}, { __index = { one = "1" } })))
show(("one two"):gsub("%a+", setmetatable({ two = "2" }, { __newindex = error })))
show(pcall(string.gsub, "abc", "b", setmetatable({}, { __index = function() error("from __index", 0) end })))

-- A table that is changed between matches, and one that is collected around.
local counts = setmetatable({}, { __index = function(t, key)
    t[key] = key .. #key
    return t[key]
end })
for _ = 1, 3 do
    show(("aa b aa ccc b"):gsub("%a+", counts))
    collectgarbage()
end
local weak = setmetatable({}, { __mode = "kv" })
for n = 1, 200 do
    weak["w" .. n] = "value" .. n
    local s = ("w" .. n .. " w" .. (n - 1)):gsub("%w+", weak)
    if n % 50 == 0 then
        collectgarbage()
        print(s)
    end
end

-- In a hot loop, with replacements that make the buffer grow.
local total = 0
local big = { x = ("y"):rep(300), z = "" }
for n = 1, 3000 do
    local s, count = ("axbzcxdz" .. n):gsub("[xz]", big)
    total = total + #s + count
end
print(total)
