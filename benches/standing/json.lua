-- JSON, read and written: a recursive-descent parser and a printer, as a small library of local functions.
-- The documents are made by a generator: orders, trees of settings, log records and tables of measurements.

local find, sub, byte, char, format = string.find, string.sub, string.byte, string.char, string.format
local floor, concat, sort = math.floor, table.concat, table.sort

---------------------------------------------------------------- library

local null = setmetatable({}, { __tostring = function() return "null" end })
local json = { null = null }

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t" }
local unescapes = { ['"'] = '"', ["\\"] = "\\", ["/"] = "/", b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }

local function escape(c)
    return escapes[c] or format("\\u%04x", byte(c))
end

local function is_array(t)
    local n = 0
    for k in pairs(t) do
        if type(k) ~= "number" then return false end
        n = n + 1
    end
    return n == #t
end

local encode_value

local function encode_array(t, out, indent, depth)
    if #t == 0 then
        out[#out + 1] = "[]"
        return
    end
    local pad = indent and "\n" .. indent:rep(depth) or ""
    out[#out + 1] = "["
    for i, v in ipairs(t) do
        if i > 1 then out[#out + 1] = "," end
        out[#out + 1] = pad
        encode_value(v, out, indent, depth + 1)
    end
    out[#out + 1] = (indent and "\n" .. indent:rep(depth - 1) or "") .. "]"
end

local function encode_object(t, out, indent, depth)
    local keys = {}
    for k in pairs(t) do
        if type(k) ~= "string" then error("key is not a string: " .. tostring(k)) end
        keys[#keys + 1] = k
    end
    sort(keys)
    local pad = indent and "\n" .. indent:rep(depth) or ""
    out[#out + 1] = "{"
    for i, k in ipairs(keys) do
        if i > 1 then out[#out + 1] = "," end
        out[#out + 1] = pad
        out[#out + 1] = '"' .. k:gsub('[%c"\\]', escape) .. (indent and '": ' or '":')
        encode_value(t[k], out, indent, depth + 1)
    end
    out[#out + 1] = (indent and "\n" .. indent:rep(depth - 1) or "") .. "}"
end

local encoders = {
    string = function(s, out) out[#out + 1] = '"' .. s:gsub('[%c"\\]', escape) .. '"' end,
    number = function(n, out)
        if n ~= n or n == math.huge or n == -math.huge then error("not a number in JSON") end
        out[#out + 1] = n == floor(n) and format("%d", n) or format("%.14g", n)
    end,
    boolean = function(b, out) out[#out + 1] = tostring(b) end,
    table = function(t, out, indent, depth)
        if t == null then
            out[#out + 1] = "null"
        elseif next(t) ~= nil and not is_array(t) then
            encode_object(t, out, indent, depth)
        else
            encode_array(t, out, indent, depth)
        end
    end,
}

function encode_value(v, out, indent, depth)
    local encoder = encoders[type(v)] or error("cannot encode a " .. type(v))
    return encoder(v, out, indent, depth)
end

function json.encode(value, indent)
    local out = {}
    encode_value(value, out, indent, 1)
    return concat(out)
end

local function fail(text, at, message)
    local line = 1
    for _ in sub(text, 1, at):gmatch("\n") do line = line + 1 end
    error(format("line %d, byte %d: %s", line, at, message), 0)
end

local function utf8_char(n)
    if n < 0x80 then return char(n) end
    if n < 0x800 then return char(0xC0 + floor(n / 64), 0x80 + n % 64) end
    if n < 0x10000 then return char(0xE0 + floor(n / 4096), 0x80 + floor(n / 64) % 64, 0x80 + n % 64) end
    return char(0xF0 + floor(n / 262144), 0x80 + floor(n / 4096) % 64, 0x80 + floor(n / 64) % 64, 0x80 + n % 64)
end

local parse_value

local function skip_space(text, at)
    return find(text, "[^ \n\r\t]", at) or #text + 1
end

local function parse_string(text, at)
    local parts, from = nil, at + 1
    while true do
        local stop = find(text, '["\\%c]', from)
        if not stop then fail(text, at, "unfinished string") end
        local c = sub(text, stop, stop)
        if c == '"' then
            local last = sub(text, from, stop - 1)
            if not parts then return last, stop + 1 end
            parts[#parts + 1] = last
            return concat(parts), stop + 1
        elseif c ~= "\\" then
            fail(text, stop, "control character in string")
        end
        parts = parts or {}
        parts[#parts + 1] = sub(text, from, stop - 1)
        local e = sub(text, stop + 1, stop + 1)
        if e == "u" then
            local hex = text:match("^%x%x%x%x", stop + 2) or fail(text, stop, "bad \\u escape")
            local code = tonumber(hex, 16)
            from = stop + 6
            local low = code >= 0xD800 and code < 0xDC00 and text:match("^\\u([dD][c-fC-F]%x%x)", from)
            if low then
                code = (code - 0xD800) * 1024 + tonumber(low, 16) - 0xDC00 + 0x10000
                from = from + 6
            end
            parts[#parts + 1] = utf8_char(code)
        else
            parts[#parts + 1] = unescapes[e] or fail(text, stop, "bad escape \\" .. e)
            from = stop + 2
        end
    end
end

local function parse_number(text, at)
    local _, stop = find(text, "^-?%d+%.?%d*[eE]?[+-]?%d*", at)
    local n = stop and tonumber(sub(text, at, stop))
    if not n then fail(text, at, "bad number") end
    return n, stop + 1
end

local function parse_word(text, at)
    local word = text:match("^%a+", at)
    if word == "true" then return true, at + 4 end
    if word == "false" then return false, at + 5 end
    if word == "null" then return null, at + 4 end
    fail(text, at, "unexpected " .. (word or sub(text, at, at)))
end

local function parse_array(text, at)
    local result, n = {}, 0
    at = skip_space(text, at + 1)
    if sub(text, at, at) == "]" then return result, at + 1 end
    while true do
        n = n + 1
        result[n], at = parse_value(text, at)
        at = skip_space(text, at)
        local c = sub(text, at, at)
        if c == "]" then return result, at + 1 end
        if c ~= "," then fail(text, at, "expected , or ]") end
        at = skip_space(text, at + 1)
    end
end

local function parse_object(text, at)
    local result = {}
    at = skip_space(text, at + 1)
    if sub(text, at, at) == "}" then return result, at + 1 end
    while true do
        if sub(text, at, at) ~= '"' then fail(text, at, "expected a key") end
        local key
        key, at = parse_string(text, at)
        at = skip_space(text, at)
        if sub(text, at, at) ~= ":" then fail(text, at, "expected :") end
        result[key], at = parse_value(text, skip_space(text, at + 1))
        at = skip_space(text, at)
        local c = sub(text, at, at)
        if c == "}" then return result, at + 1 end
        if c ~= "," then fail(text, at, "expected , or }") end
        at = skip_space(text, at + 1)
    end
end

local parsers = { ["{"] = parse_object, ["["] = parse_array, ['"'] = parse_string, ["-"] = parse_number,
    t = parse_word, f = parse_word, n = parse_word }
for digit = 0, 9 do parsers[format("%d", digit)] = parse_number end

function parse_value(text, at)
    local parser = parsers[sub(text, at, at)] or fail(text, at, "unexpected character")
    return parser(text, at)
end

function json.decode(text)
    local value, at = parse_value(text, skip_space(text, 1))
    at = skip_space(text, at)
    if at <= #text then fail(text, at, "trailing garbage") end
    return value
end

---------------------------------------------------------------- documents

local seed = 77003
local function random(n)
    seed = seed * 16807 % 2147483647
    return seed % n + 1
end

local words = { "lamp", "r\195\169sum\195\169", "say \"hi\"", "a/b", "path\\to", "new\nline", "tab\there", "", "oak table", "\1\2", "42", "\226\130\172 9",
    "the quick brown fox jumps over the lazy dog", "null", "x" }
local function word() return words[random(#words)] end

local function order(i)
    local lines = {}
    for n = 1, random(6) - 1 do
        lines[n] = { article = word(), quantity = random(20), price = random(100000) / 100, options = { word(), word() } }
    end
    return { id = i, customer = { name = word() .. " " .. word(), vip = random(5) == 1, phone = random(3) == 1 and null or "+49 " .. random(99999) },
        lines = lines, note = random(4) == 1 and word() or nil, weight = random(1000) / 8 - 30 }
end

local function settings(depth)
    local t = {}
    for _ = 1, random(4) do
        local r = random(depth > 0 and 8 or 5)
        local key = words[random(#words)] .. random(9)
        if r == 1 then t[key] = random(2) == 1
        elseif r == 2 then t[key] = random(1000) * 1000003
        elseif r == 3 then t[key] = word()
        elseif r == 4 then t[key] = null
        elseif r == 5 then t[key] = -random(100) / 7
        else t[key] = settings(depth - 1) end
    end
    return t
end

local function measurements()
    local rows = {}
    for i = 1, 20 + random(30) do
        rows[i] = { random(100), random(1000) / 16, random(9) > 1 and random(1000000) or null }
    end
    return { columns = { "run", "seconds", "bytes" }, rows = rows }
end

---------------------------------------------------------------- the work

local function checksum(s)
    local h = #s
    for i = 1, #s, 5 do h = (h * 33 + byte(s, i)) % 2147483647 end
    return h
end

local bytes, sum, same, failed, messages = 0, 0, 0, 0, {}
for round = 1, 900 do
    local r = random(3)
    local document = r == 1 and order(round) or r == 2 and settings(5) or measurements()
    if r == 1 then document = { document, order(-round), order(round * 1000) } end
    local text = json.encode(document)
    local again = json.decode(text)
    local pretty = json.encode(again, "  ")
    if json.encode(json.decode(pretty)) == text then same = same + 1 end
    bytes = bytes + #text + #pretty
    sum = (sum + checksum(pretty)) % 2147483647
    -- A byte goes missing on the way.
    local hole = random(#text)
    local ok, message = pcall(json.decode, sub(text, 1, hole - 1) .. sub(text, hole + 1))
    if not ok then
        failed = failed + 1
        message = message:gsub("^.-: ", "")
        messages[message] = (messages[message] or 0) + 1
    end
end
print("bytes", bytes, "same", same, "sum", format("%d", sum))
print("failed", failed, "expected , or }", messages["expected , or }"], "unfinished string", messages["unfinished string"])
