-- Fields and methods that objects have by way of their metatables: from one level to more than code looks
-- through, missing everywhere, hidden by false and by nil, by __index functions at each level, of values that
-- are no tables; while tables on the way lose and gain what is looked for, and by names that are computed.
local function chain(levels, bottom)
    local top = bottom
    for level = 1, levels do
        top = setmetatable({ ["at" .. level] = level }, { __index = top })
    end
    return top
end

local function probe(object, times)
    local out = {}
    for i = 1, times do
        local a, b, c = object.base, object.at1, object.missing
        local d = object.hidden
        out[1], out[2], out[3], out[4] = a, b, c, d
        if i % 7 == 0 then
            out[5] = object:method(i)
        end
    end
    return tostring(out[1]), tostring(out[2]), tostring(out[3]), tostring(out[4]), tostring(out[5])
end

local base = { base = "base", hidden = "seen" }
function base.method(self, n) return self.base .. n end
for levels = 0, 12 do
    local object = chain(levels, base)
    print(levels, probe(object, 30))
    object.hidden = false
    print(levels, probe(object, 30))
    object.hidden = nil
    print(levels, probe(object, 30))
end

-- What stands in between changes.
local root = { kind = "root" }
local middle = setmetatable({}, { __index = root })
local object = setmetatable({}, { __index = middle })
local seen = {}
for i = 1, 200 do
    if i == 50 then middle.kind = "middle" end
    if i == 90 then middle.kind = nil end
    if i == 110 then getmetatable(middle).__index = { kind = "other root" } end
    if i == 130 then getmetatable(object).__index = nil end
    if i == 150 then getmetatable(object).__index = function(self, key) return key .. "!" end end
    if i == 170 then setmetatable(object, nil) end
    if i == 190 then setmetatable(object, { __index = "text" }) end
    local kind = object.kind
    if seen[#seen] ~= tostring(kind) then seen[#seen + 1] = tostring(kind) end
end
print(table.concat(seen, " "))

-- Functions at each level are asked about the table that they stand for.
for level = 1, 4 do
    local names = {}
    local bottom = setmetatable({}, { __index = function(t, key) return names[t] .. "." .. key end })
    names[bottom] = "bottom"
    local o = chain(level - 1, bottom)
    local text
    for i = 1, 40 do text = o.some .. o["other" .. i % 3] end
    print(level, text)
end

-- Names that are computed, and globals.
local words = { "base", "missing", "at1", "method" }
local o, found = chain(3, base), {}
for i = 1, 200 do
    local value = o[words[i % 4 + 1]]
    found[i % 4 + 1] = type(value)
end
print(table.concat(found, " "))
setmetatable(_G, { __index = chain(2, { from_afar = 7 }) })
local sum = 0
for i = 1, 100 do sum = sum + from_afar + (never_there or 1) end
setmetatable(_G, nil)
print(sum)

-- Methods that are missing, and why.
local function call(o) for i = 1, 20 do o:base_method() end end
for levels = 0, 9, 3 do
    local ok, message = pcall(call, chain(levels, {}))
    print(levels, ok, (message:gsub("^.-:%d+: ", "")))
end
local strings = ("x"):rep(3)
local ok, message = pcall(function() for i = 1, 20 do strings:nothing() end end)
print(ok, (message:gsub("^.-:%d+: ", "")))
local ok, message = pcall(function() for i = 1, 20 do local x = setmetatable({}, { __index = 7 }); local y = x.z end end)
print(ok, (message:gsub("^.-:%d+: ", "")))
