-- The lexer of lexer.lua as another programmer would write it: an object with methods, patterns instead of bytes.

local byte, sub, format, concat = string.byte, string.sub, string.format, table.concat

local seed = 20240611
local function random(n)
    seed = seed * 16807 % 2147483647
    return seed % n + 1
end
local function pick(list) return list[random(#list)] end

---------------------------------------------------------------- the writer

local stems = { "buf", "len", "count", "node", "next", "head", "tail", "index", "value", "key", "hash", "table",
    "state", "flags", "offset", "limit", "src", "dst", "error", "name", "size", "list", "item", "ctx", "token" }
local verbs = { "read", "write", "find", "insert", "remove", "update", "parse", "emit", "alloc", "release", "visit" }
local types = { "int", "char *", "unsigned", "size_t ", "struct node *", "const char *", "double", "uint32_t" }
local remarks = { "do not touch: the caller still holds it", "returns -1 if there is nothing left",
    "TODO: check for overflow", "see the note in the manual, section 4.2", "hot path" }
local texts = { [["%s: cannot open '%s'\n"]], [["out of memory"]], [["\tline %d, column %d\n"]], [["\"quoted\""]],
    [[""]], [["\\x41\\n"]], [["a rather long message that explains in detail what has happened"]] }

local function identifier()
    local r = random(6)
    if r == 1 then return pick(stems) end
    if r == 2 then return pick(stems) .. "_" .. pick(stems) end
    if r == 3 then return pick(verbs) .. "_" .. pick(stems) end
    if r == 4 then return pick(stems) .. random(40) end
    if r == 5 then return pick({ "i", "j", "k", "n", "p", "q", "s", "x", "y" }) end
    return pick(stems):upper() .. "_MAX"
end

local function expression(depth)
    local r = random(depth > 0 and 14 or 6)
    if r <= 2 then return identifier() end
    if r == 3 then return tostring(random(1000) - 1) end
    if r == 4 then return pick({ "0x1F", "0xdeadBEEFu", "1.5e-3", ".25f", "100UL", "3.", "0" }) end
    if r == 5 then return pick({ "'a'", "'\\n'", "'\\''", "'\\x7f'" }) end
    if r == 6 then return pick(texts) end
    local e = expression(depth - 1)
    if r == 7 then return "(" .. e .. ")" end
    if r == 8 then return identifier() .. "[" .. e .. "]" end
    if r == 9 then return identifier() .. "->" .. pick(stems) end
    if r == 10 then return pick({ "!", "~", "-", "*", "&", "++" }) .. identifier() end
    if r == 11 then return identifier() .. "(" .. e .. ", " .. expression(depth - 1) .. ")" end
    local op = pick({ "+", "-", "*", "/", "%", "<<", ">>", "<", "<=", "==", "!=", "&&", "||", "&", "|", "^" })
    return e .. " " .. op .. (random(9) == 1 and "" or " ") .. expression(depth - 1)
end

local function statements(out, depth, indent)
    for _ = 1, random(4) do
        local r = random(depth > 0 and 12 or 7)
        if r <= 3 then
            local op = pick({ " = ", " += ", " |= ", " <<= ", "=" })
            out[#out + 1] = indent .. identifier() .. op .. expression(2) .. ";"
        elseif r == 4 then
            out[#out + 1] = format("%s%s %s = %s;", indent, pick(types), identifier(), expression(2))
        elseif r == 5 then
            out[#out + 1] = indent .. pick(verbs) .. "_" .. pick(stems) .. "(" .. expression(1) .. ");"
        elseif r == 6 then
            out[#out + 1] = indent .. (random(2) == 1 and "// " or "/* ") .. pick(remarks)
            if byte(out[#out], #indent + 2) == 42 then
                out[#out] = out[#out] .. (random(2) == 1 and " */" or "\n" .. indent .. " * and beware **/")
            end
        elseif r == 7 then
            out[#out + 1] = indent .. pick({ "break;", "continue;", "return " .. expression(1) .. ";", "" })
        elseif r <= 9 then
            out[#out + 1] = indent .. "if (" .. expression(2) .. ") {"
            statements(out, depth - 1, indent .. "    ")
            out[#out + 1] = indent .. "}"
        elseif r <= 11 then
            out[#out + 1] = format("%sfor (i = 0; i < %s; i++) {", indent, expression(1))
            statements(out, depth - 1, indent .. "    ")
            out[#out + 1] = indent .. "}"
        else
            out[#out + 1] = indent .. "while (" .. expression(1) .. ") {"
            statements(out, depth - 1, indent .. "\t")
            out[#out + 1] = indent .. "}"
        end
    end
end

local function write_program(functions)
    local out = { "#include <stdio.h>", "#define LIMIT(x) \\", "    ((x) < 10 ? (x) : 10)" }
    for i = 1, functions do
        out[#out + 1] = format("static %s%s_%s%d(%s%s) {", pick(types), pick(verbs), pick(stems), i, pick(types), identifier())
        statements(out, 3, "    ")
        out[#out + 1] = random(30) == 1 and "    @ 'oops\n}\n" or "}\n"
    end
    return concat(out, "\n")
end

---------------------------------------------------------------- the lexer

local Lexer = {}
Lexer.__index = Lexer

Lexer.keywords = {
    ["break"] = true, case = true, char = true, const = true, continue = true, default = true, ["do"] = true,
    double = true, ["else"] = true, enum = true, extern = true, float = true, ["for"] = true, ["if"] = true,
    int = true, long = true, register = true, ["return"] = true, short = true, signed = true, sizeof = true,
    static = true, struct = true, switch = true, typedef = true, union = true, unsigned = true, void = true,
    volatile = true, ["while"] = true,
}

Lexer.operators = {}
for text in ("<<= >>= ... -> ++ -- << >> <= >= == != && || += -= *= /= %= &= |= ^="):gmatch("%S+") do
    Lexer.operators[text] = true
end

function Lexer.new(source)
    return setmetatable({ source = source, position = 1, line = 1, at_line_start = true }, Lexer)
end

function Lexer:match(pattern)
    local first, last = self.source:find(pattern, self.position)
    if not first then return nil end
    self.position = last + 1
    return self.source:sub(first, last)
end

function Lexer:count_lines(text)
    for _ in text:gmatch("\n") do
        self.line = self.line + 1
    end
end

-- Spaces, new lines and comments.
function Lexer:skip_blank()
    while true do
        local blank = self:match("^%s+")
        if blank then
            if blank:find("\n", 1, true) then
                self.at_line_start = true
                self:count_lines(blank)
            end
        elseif not self:match("^//[^\n]*") then
            if self.source:sub(self.position, self.position + 1) ~= "/*" then return end
            local _, close = self.source:find("*/", self.position + 2, true)
            close = close or #self.source
            self:count_lines(self.source:sub(self.position, close))
            self.position = close + 1
        end
    end
end

function Lexer:directive()
    local line, text = self.line, ""
    repeat
        local part = self:match("^[^\n]*")
        text = text .. part
        local continued = part:sub(-1) == "\\"
        if continued then
            self.position = self.position + 1
            self.line = self.line + 1
            text = text .. "\n"
        end
    until not continued
    return "directive", text, line
end

function Lexer:literal(quote)
    local start = self.position
    self.position = start + 1
    while true do
        self:match("^[^\\\n\"']+")
        local c = self.source:sub(self.position, self.position)
        if c == "\\" then
            self.position = self.position + 2
        elseif c == quote then
            self.position = self.position + 1
            return quote == '"' and "string" or "char", self.source:sub(start, self.position - 1), self.line
        elseif c == "\n" or c == "" then
            return "error", self.source:sub(start, self.position - 1), self.line
        else
            self.position = self.position + 1
        end
    end
end

function Lexer:number()
    local kind = "integer"
    local text = self:match("^0[xX]%x*")
    if not text then
        text = self:match("^%d*")
        local fraction = self:match("^%.%d*")
        local exponent = self:match("^[eE][+-]?%d*")
        if fraction or exponent then kind = "real" end
        text = text .. (fraction or "") .. (exponent or "")
    end
    return kind, text .. self:match("^[%a_]*"), self.line
end

function Lexer:operator()
    local length = 3
    while length > 1 and not self.operators[self.source:sub(self.position, self.position + length - 1)] do
        length = length - 1
    end
    local text = self.source:sub(self.position, self.position + length - 1)
    self.position = self.position + #text
    return (text == "@" or text == "`") and "error" or "operator", text, self.line
end

function Lexer:next()
    self:skip_blank()
    local c = self.source:sub(self.position, self.position)
    if c == "" then return nil end
    if c == "#" and self.at_line_start then return self:directive() end
    self.at_line_start = false
    local word = self:match("^[%a_][%w_]*")
    if word then
        return self.keywords[word] and "keyword" or "name", word, self.line
    elseif self.source:find("^%.?%d", self.position) then
        return self:number()
    elseif c == '"' or c == "'" then
        return self:literal(c)
    end
    return self:operator()
end

---------------------------------------------------------------- the work

local Statistics = {}
Statistics.__index = Statistics

function Statistics.new()
    return setmetatable({ counts = {}, names = {}, sum = 0, lines = 0 }, Statistics)
end

function Statistics:note(kind, text, line)
    self.counts[kind] = (self.counts[kind] or 0) + 1
    if kind == "name" then self.names[text] = (self.names[text] or 0) + 1 end
    self.sum = (self.sum * 31 + #text * 7 + text:byte() + line) % 1000000007
end

function Statistics:lex(source)
    local lexer, last = Lexer.new(source), 0
    local kind, text, line = lexer:next()
    while kind do
        self:note(kind, text, line)
        last = line
        kind, text, line = lexer:next()
    end
    self.lines = self.lines + last
end

local statistics = Statistics.new()
local sources = 12
while sources > 0 do
    local source = write_program(200)
    statistics:lex(source)
    -- As an editor does after a change: again, from the start of some line.
    for _ = 1, 5 do
        statistics:lex(source:sub(source:find("\n", random(#source - 100), true) + 1))
    end
    sources = sources - 1
end

for _, kind in ipairs({ "keyword", "name", "integer", "real", "string", "char", "operator", "directive", "error" }) do
    print(kind, statistics.counts[kind])
end
local distinct = 0
for _ in pairs(statistics.names) do distinct = distinct + 1 end
print("distinct", distinct, "buf", statistics.names.buf, "lines", statistics.lines, "sum", format("%d", statistics.sum))
