-- The library of json.lua as another programmer would write it: a reader and a writer that are objects with
-- methods, the text walked byte by byte.

local Null = {}
setmetatable(Null, Null)

local QUOTE, BACKSLASH, COMMA, COLON, MINUS, POINT, ZERO, NINE = 34, 92, 44, 58, 45, 46, 48, 57
local OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT = 91, 93, 123, 125

---------------------------------------------------------------- writer

local Writer = {}
Writer.__index = Writer

function Writer.new(indent)
    local self = setmetatable({}, Writer)
    self.indent = indent
    self.level = 0
    self.pieces = {}
    self.count = 0
    return self
end

function Writer:put(piece)
    self.count = self.count + 1
    self.pieces[self.count] = piece
end

function Writer:newline()
    if self.indent then
        self:put("\n" .. string.rep(self.indent, self.level))
    end
end

local short = { [8] = "\\b", [9] = "\\t", [10] = "\\n", [12] = "\\f", [13] = "\\r", [QUOTE] = '\\"', [BACKSLASH] = "\\\\" }

function Writer:string(s)
    self:put('"')
    local from, i = 1, 1
    while i <= #s do
        local b = s:byte(i)
        if b < 32 or b == QUOTE or b == BACKSLASH or b == 127 then
            if i > from then self:put(s:sub(from, i - 1)) end
            self:put(short[b] or string.format("\\u%04x", b))
            from = i + 1
        end
        i = i + 1
    end
    self:put(s:sub(from))
    self:put('"')
end

function Writer:number(n)
    if n ~= n or n == math.huge or n == -math.huge then
        error("not a number in JSON")
    elseif n % 1 == 0 then
        self:put(string.format("%d", n))
    else
        self:put(string.format("%.14g", n))
    end
end

function Writer:list(list)
    self:put("[")
    self.level = self.level + 1
    local i, n = 1, #list
    while i <= n do
        if i > 1 then self:put(",") end
        self:newline()
        self:value(list[i])
        i = i + 1
    end
    self.level = self.level - 1
    self:newline()
    self:put("]")
end

function Writer:object(object, keys)
    table.sort(keys)
    self:put("{")
    self.level = self.level + 1
    local i, n = 1, #keys
    while i <= n do
        local key = keys[i]
        if i > 1 then self:put(",") end
        self:newline()
        self:string(key)
        self:put(self.indent and ": " or ":")
        self:value(object[key])
        i = i + 1
    end
    self.level = self.level - 1
    self:newline()
    self:put("}")
end

function Writer:table(t)
    local names, others = {}, 0
    for key in pairs(t) do
        if type(key) == "string" then names[#names + 1] = key else others = others + 1 end
    end
    if others ~= #t or (#names > 0 and others > 0) then
        error("a table that is neither list nor object")
    elseif #names > 0 then
        self:object(t, names)
    elseif others > 0 then
        self:list(t)
    else
        self:put("[]")
    end
end

function Writer:value(value)
    local kind = type(value)
    if value == Null then
        self:put("null")
    elseif kind == "string" then
        self:string(value)
    elseif kind == "number" then
        self:number(value)
    elseif kind == "boolean" then
        self:put(value and "true" or "false")
    elseif kind == "table" then
        self:table(value)
    else
        error("cannot write a " .. kind)
    end
end

local function to_json(value, indent)
    local writer = Writer.new(indent)
    writer:value(value)
    return table.concat(writer.pieces)
end

---------------------------------------------------------------- reader

local Reader = {}
Reader.__index = Reader

function Reader.new(text)
    return setmetatable({ text = text, at = 1 }, Reader)
end

function Reader:fail(message)
    local line, i = 1, 1
    while i <= self.at do
        if self.text:byte(i) == 10 then line = line + 1 end
        i = i + 1
    end
    error(string.format("line %d, byte %d: %s", line, self.at, message), 0)
end

function Reader:peek()
    return self.text:byte(self.at)
end

function Reader:skip_space()
    local b = self:peek()
    while b == 32 or b == 10 or b == 9 or b == 13 do
        self.at = self.at + 1
        b = self:peek()
    end
    return b
end

function Reader:accept(byte)
    if self:peek() == byte then
        self.at = self.at + 1
        return true
    end
    return false
end

function Reader:hex4()
    local digits = self.text:sub(self.at, self.at + 3)
    if not digits:find("^%x%x%x%x$") then self:fail("bad \\u escape") end
    self.at = self.at + 4
    return tonumber(digits, 16)
end

function Reader:utf8(code)
    local tail, limit, lead = "", 64, 128
    if code < 128 then return string.char(code) end
    while code >= limit do
        tail = string.char(128 + code % 64) .. tail
        code = math.floor(code / 64)
        limit = limit == 64 and 32 or limit / 2
        lead = 256 - limit * 2
    end
    return string.char(lead + code) .. tail
end

local plain = { [QUOTE] = '"', [BACKSLASH] = "\\", [47] = "/", [98] = "\b", [102] = "\f", [110] = "\n", [114] = "\r", [116] = "\t" }

function Reader:escape()
    local b = self:peek()
    self.at = self.at + 1
    if b ~= 117 then
        return plain[b] or self:fail("bad escape")
    end
    local code = self:hex4()
    if code >= 0xD800 and code < 0xDC00 and self.text:find("^\\u[dD][c-fC-F]", self.at) then
        self.at = self.at + 2
        code = (code - 0xD800) * 1024 + self:hex4() - 0xDC00 + 0x10000
    end
    return self:utf8(code)
end

function Reader:string()
    local start = self.at + 1
    local result = ""
    self.at = start
    while true do
        local b = self:peek()
        if not b then
            self:fail("unfinished string")
        elseif b == QUOTE then
            result = result .. self.text:sub(start, self.at - 1)
            self.at = self.at + 1
            return result
        elseif b == BACKSLASH then
            result = result .. self.text:sub(start, self.at - 1)
            self.at = self.at + 1
            result = result .. self:escape()
            start = self.at
        elseif b < 32 or b == 127 then
            self:fail("control character in string")
        else
            self.at = self.at + 1
        end
    end
end

function Reader:digits()
    local b = self:peek()
    while b and b >= ZERO and b <= NINE do
        self.at = self.at + 1
        b = self:peek()
    end
end

function Reader:number()
    local start = self.at
    self:accept(MINUS)
    if not self.text:find("^%d", self.at) then self:fail("bad number") end
    self:digits()
    if self:accept(POINT) then self:digits() end
    if self:accept(101) or self:accept(69) then
        if not self:accept(43) then self:accept(MINUS) end
        self:digits()
    end
    return tonumber(self.text:sub(start, self.at - 1)) or self:fail("bad number")
end

function Reader:word(word, value)
    if self.text:sub(self.at, self.at + #word - 1) ~= word then self:fail("unexpected character") end
    self.at = self.at + #word
    return value
end

function Reader:list()
    local list, n = {}, 0
    self:accept(OPEN_LIST)
    if self:skip_space() ~= CLOSE_LIST then
        repeat
            n = n + 1
            list[n] = self:value()
            self:skip_space()
        until not self:accept(COMMA)
    end
    if not self:accept(CLOSE_LIST) then self:fail("expected , or ]") end
    return list
end

function Reader:object()
    local object = {}
    self:accept(OPEN_OBJECT)
    if self:skip_space() ~= CLOSE_OBJECT then
        repeat
            if self:skip_space() ~= QUOTE then self:fail("expected a key") end
            local key = self:string()
            self:skip_space()
            if not self:accept(COLON) then self:fail("expected :") end
            object[key] = self:value()
            self:skip_space()
        until not self:accept(COMMA)
    end
    if not self:accept(CLOSE_OBJECT) then self:fail("expected , or }") end
    return object
end

function Reader:value()
    local b = self:skip_space()
    if b == OPEN_OBJECT then
        return self:object()
    elseif b == OPEN_LIST then
        return self:list()
    elseif b == QUOTE then
        return self:string()
    elseif b == 116 then
        return self:word("true", true)
    elseif b == 102 then
        return self:word("false", false)
    elseif b == 110 then
        return self:word("null", Null)
    elseif b and (b == MINUS or b >= ZERO and b <= NINE) then
        return self:number()
    end
    self:fail("unexpected character")
end

local function from_json(text)
    local reader = Reader.new(text)
    local value = reader:value()
    if reader:skip_space() then reader:fail("trailing garbage") end
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
    return { id = i, customer = { name = word() .. " " .. word(), vip = random(5) == 1, phone = random(3) == 1 and Null or "+49 " .. random(99999) },
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
        elseif r == 4 then t[key] = Null
        elseif r == 5 then t[key] = -random(100) / 7
        else t[key] = settings(depth - 1) end
    end
    return t
end

local function measurements()
    local rows = {}
    for i = 1, 20 + random(30) do
        rows[i] = { random(100), random(1000) / 16, random(9) > 1 and random(1000000) or Null }
    end
    return { columns = { "run", "seconds", "bytes" }, rows = rows }
end

---------------------------------------------------------------- the work

local function checksum(s)
    local h, i = #s, 1
    while i <= #s do
        h = (h * 33 + s:byte(i)) % 2147483647
        i = i + 5
    end
    return h
end

local tally = { bytes = 0, sum = 0, same = 0, failed = 0, messages = {} }
local round = 1
while round <= 900 do
    local document
    local r = random(3)
    if r == 1 then
        document = order(round)
    elseif r == 2 then
        document = settings(5)
    else
        document = measurements()
    end
    if r == 1 then document = { document, order(-round), order(round * 1000) } end
    local text = to_json(document)
    local pretty = to_json(from_json(text), "  ")
    if to_json(from_json(pretty)) == text then tally.same = tally.same + 1 end
    tally.bytes = tally.bytes + #text + #pretty
    tally.sum = (tally.sum + checksum(pretty)) % 2147483647
    -- A byte goes missing on the way.
    local hole = random(#text)
    local ok, message = pcall(from_json, text:sub(1, hole - 1) .. text:sub(hole + 1))
    if not ok then
        tally.failed = tally.failed + 1
        message = message:gsub("^.-: ", "")
        tally.messages[message] = (tally.messages[message] or 0) + 1
    end
    round = round + 1
end
print("bytes", tally.bytes, "same", tally.same, "sum", string.format("%d", tally.sum))
print("failed", tally.failed, "expected , or }", tally.messages["expected , or }"],
    "unfinished string", tally.messages["unfinished string"])
