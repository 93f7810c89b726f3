-- A lexer for a C-like language, byte by byte, with a closure per source.
-- The source comes from a small writer of programs that never writes the same function twice.

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

local keywords = {}
for word in ("break case char const continue default do double else enum extern float for if int long register " ..
    "return short signed sizeof static struct switch typedef union unsigned void volatile while"):gmatch("%a+") do
    keywords[word] = true
end

local is_space, is_letter, is_digit, is_hex = {}, {}, {}, {}
for c = 0, 255 do
    local s = string.char(c)
    is_space[c] = s:find("[ \t\r]") ~= nil
    is_letter[c] = s:find("[%a_]") ~= nil
    is_digit[c] = s:find("%d") ~= nil
    is_hex[c] = s:find("%x") ~= nil
end

-- Operators by length, longest first.
local three, two = {}, {}
for op in ("<<= >>= ..."):gmatch("%S+") do three[op] = true end
for op in ("-> ++ -- << >> <= >= == != && || += -= *= /= %= &= |= ^="):gmatch("%S+") do two[op] = true end

-- Returns a function that gives kind, text and line of the next token, or nil at the end.
local function lexer(source)
    local at, line, length = 1, 1, #source
    local line_start = true

    local function skip_comment()
        local c, previous = byte(source, at + 2), 0
        at = at + 2
        while c and not (c == 47 and previous == 42) do
            if c == 10 then line = line + 1 end
            previous = c
            at = at + 1
            c = byte(source, at)
        end
        at = at + 1
    end

    local function quoted(quote)
        local start = at
        at = at + 1
        while at <= length do
            local c = byte(source, at)
            if c == quote then
                at = at + 1
                return sub(source, start, at - 1)
            elseif c == 92 then
                at = at + 2
            elseif c == 10 then
                break
            else
                at = at + 1
            end
        end
        return nil, sub(source, start, at - 1)
    end

    local function number()
        local start, kind = at, "integer"
        if byte(source, at) == 48 and (byte(source, at + 1) == 120 or byte(source, at + 1) == 88) then
            at = at + 2
            while is_hex[byte(source, at)] do at = at + 1 end
        else
            while is_digit[byte(source, at)] do at = at + 1 end
            if byte(source, at) == 46 then
                kind = "real"
                repeat at = at + 1 until not is_digit[byte(source, at)]
            end
            local c = byte(source, at)
            if c == 101 or c == 69 then
                kind = "real"
                c = byte(source, at + 1)
                if c == 43 or c == 45 then at = at + 1 end
                repeat at = at + 1 until not is_digit[byte(source, at)]
            end
        end
        while is_letter[byte(source, at)] do at = at + 1 end
        return kind, sub(source, start, at - 1)
    end

    return function()
        while true do
            local c = byte(source, at)
            if not c then
                return nil
            elseif c == 10 then
                line = line + 1
                at = at + 1
                line_start = true
            elseif is_space[c] then
                at = at + 1
            elseif c == 35 and line_start then
                local start, first = at, line
                repeat
                    if c == 92 and byte(source, at + 1) == 10 then
                        line = line + 1
                        at = at + 1
                    end
                    at = at + 1
                    c = byte(source, at)
                until not c or c == 10
                return "directive", sub(source, start, at - 1), first
            elseif c == 47 and byte(source, at + 1) == 47 then
                repeat at = at + 1; c = byte(source, at) until not c or c == 10
            elseif c == 47 and byte(source, at + 1) == 42 then
                skip_comment()
            else
                line_start = false
                if is_letter[c] then
                    local start = at
                    repeat at = at + 1; c = byte(source, at) until not (is_letter[c] or is_digit[c])
                    local text = sub(source, start, at - 1)
                    return keywords[text] and "keyword" or "name", text, line
                elseif is_digit[c] or (c == 46 and is_digit[byte(source, at + 1)]) then
                    local kind, text = number()
                    return kind, text, line
                elseif c == 34 or c == 39 then
                    local text, rest = quoted(c)
                    if text then return c == 34 and "string" or "char", text, line end
                    return "error", rest, line
                end
                local text = sub(source, at, at + 2)
                if not three[text] then
                    text = sub(text, 1, 2)
                    if not two[text] then text = sub(text, 1, 1) end
                end
                at = at + #text
                if c == 64 or c == 96 then return "error", text, line end
                return "operator", text, line
            end
        end
    end
end

---------------------------------------------------------------- the work

local counts, names, sum, lines = {}, {}, 0, 0

local function lex(source)
    local last = 0
    for kind, text, line in lexer(source) do
        counts[kind] = (counts[kind] or 0) + 1
        if kind == "name" then names[text] = (names[text] or 0) + 1 end
        sum = (sum * 31 + #text * 7 + byte(text) + line) % 1000000007
        last = line
    end
    lines = lines + last
end

for _ = 1, 12 do
    local source = write_program(200)
    lex(source)
    -- As an editor does after a change: again, from the start of some line.
    for _ = 1, 5 do
        lex(sub(source, source:find("\n", random(#source - 100), true) + 1))
    end
end
for _, kind in ipairs({ "keyword", "name", "integer", "real", "string", "char", "operator", "directive", "error" }) do
    print(kind, counts[kind])
end
local distinct = 0
for _ in pairs(names) do distinct = distinct + 1 end
print("distinct", distinct, "buf", names.buf, "lines", lines, "sum", format("%d", sum))
