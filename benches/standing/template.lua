-- A template engine: {{ expressions | with filters }}, {% statements %}, {# remarks #}, includes and blocks.
-- Templates are translated to Lua, loaded once, and then run over many pages of data.

local concat, format, floor = table.concat, string.format, math.floor

local Engine = {}
Engine.__index = Engine

local entities = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["'"] = "&#39;" }

local filters = {}
function filters.upper(s) return tostring(s):upper() end
function filters.capitalize(s) return (tostring(s):gsub("^%l", string.upper)) end
function filters.money(n) return format("%d.%02d", floor(n / 100), n % 100) end
function filters.truncate(s, n)
    if #s <= n then return s end
    return s:sub(1, n):gsub("%s+%S*$", "") .. "..."
end
function filters.join(list, separator) return concat(list, separator) end
function filters.default(value, other)
    if value == nil or value == "" then return other end
    return value
end
function filters.slug(s)
    return (s:lower():gsub("[^%w]+", "-"):gsub("^%-", ""):gsub("%-$", ""))
end
function filters.title(s)
    return (s:gsub("(%a)(%w*)", function(first, rest) return first:upper() .. rest:lower() end))
end

function Engine.new(sources)
    return setmetatable({ sources = sources, cache = {}, compiled = 0 }, Engine)
end

function Engine.escape(value)
    if value == nil then return "" end
    if type(value) == "number" then return format("%d", value) end
    return (tostring(value):gsub("[&<>\"']", entities))
end

-- "a.b | money | default('x')" becomes nested calls of the filters.
local function translate_expression(text)
    local parts, raw = {}, false
    for part in (text .. "|"):gmatch("%s*(.-)%s*|") do
        parts[#parts + 1] = part
    end
    local code = parts[1]
    for i = 2, #parts do
        local name, arguments = parts[i]:match("^([%a_]+)%s*(.*)$")
        if name == "raw" then
            raw = true
        else
            assert(filters[name], "no such filter: " .. tostring(name))
            arguments = arguments:match("^%((.*)%)$")
            code = format("filters.%s(%s%s)", name, code, arguments and ", " .. arguments or "")
        end
    end
    return raw and "tostring(" .. code .. ")" or "escape(" .. code .. ")"
end

local statements = {
    ["if"] = function(rest) return "if " .. rest .. " then" end,
    ["elseif"] = function(rest) return "elseif " .. rest .. " then" end,
    ["else"] = function() return "else" end,
    ["end"] = function() return "end" end,
    ["set"] = function(rest) return "local " .. rest end,
    ["for"] = function(rest)
        local name, list = rest:match("^([%a_]+)%s+in%s+(.+)$")
        if name then
            return format("for index, %s in ipairs(%s) do", name, list)
        end
        return "for " .. rest .. " do"
    end,
    ["include"] = function(rest)
        local name, with = rest:match("^(%S+)%s+with%s+(.+)$")
        return format("include(%q, %s, out)", name or rest, with or "data")
    end,
}

function Engine:translate(source)
    local code, at = { "local data, out, escape, filters, include = ...\nlocal n = #out\n" }, 1
    local function emit(...) code[#code + 1] = format(...) end
    while true do
        local open, _, kind = source:find("{([{%%#])", at)
        local text = source:sub(at, (open or 0) - 1)
        if text ~= "" then emit("n = n + 1; out[n] = %q\n", text) end
        if not open then break end
        local close = kind == "{" and "}}" or kind == "%" and "%}" or "#}"
        local stop = source:find(close, open + 2, true) or error("unclosed tag at " .. open)
        local inner = source:sub(open + 2, stop - 1):match("^%s*(.-)%s*$")
        if kind == "{" then
            emit("n = n + 1; out[n] = %s\n", translate_expression(inner))
        elseif kind == "%" then
            local word, rest = inner:match("^(%a+)%s*(.*)$")
            local statement = statements[word] or error("unknown statement: " .. inner)
            code[#code + 1] = statement(rest) .. "\n"
            if word == "include" then emit("n = #out\n") end
        end
        at = stop + 2
        if kind ~= "{" and source:sub(at, at) == "\n" then at = at + 1 end
    end
    return concat(code)
end

function Engine:get(name)
    local template = self.cache[name]
    if not template then
        local source = self.sources[name] or error("no template " .. name)
        template = assert((loadstring or load)(self:translate(source), "=" .. name))
        self.cache[name] = template
        self.compiled = self.compiled + 1
    end
    return template
end

function Engine:render(name, data)
    local out = {}
    local function include(other, value, into)
        self:get(other)(value, into, self.escape, filters, include)
    end
    include(name, data, out)
    return concat(out)
end

---------------------------------------------------------------- templates and data

local sources = {
    page = [[
<html><head><title>{{ data.title | title }}</title></head>
{# the menu is the same on all pages #}
<ul class="menu">
{% for item in data.menu %}
  <li{% if item.active %} class="active"{% end %}><a href="/{{ item.name | slug }}">{{ item.name }}</a></li>
{% end %}
</ul>
{% if #data.orders == 0 %}
<p>Nothing here yet, {{ data.user.name | default("stranger") }}.</p>
{% else %}
{% set total = 0 %}
<table>
{% for order in data.orders %}
{% include order with { order = order, row = index } %}
{% set sum = order.price * order.count %}
{% if sum > 50000 %}
<tr class="large"><td colspan="4">{{ sum | money }}!</td></tr>
{% end %}
{% end %}
</table>
{% end %}
{% include comments with data.comments %}
<p>{{ data.footer | raw }}</p>
</html>
]],
    order = [[
<tr class="{{ data.row % 2 == 0 and "even" or "odd" }}"><td>{{ data.order.article | capitalize }}</td>
<td>{{ data.order.count }} &times; {{ data.order.price | money }}</td><td>{{ data.order.tags | join(", ") | upper }}</td></tr>
]],
    comments = [[
{% for i = #data, 1, -1 %}
{% set comment = data[i] %}
<div id="c{{ i }}"><b>{{ comment.by }}</b>{% if comment.stars > 3 %} liked it{% elseif comment.stars < 2 %} did not like it{% end %}:
{{ comment.text | truncate(60) }}{% for star = 1, comment.stars %}*{% end %}</div>
{% end %}
]],
    letter = [[
Dear {{ data.user.title }} {{ data.user.name | default("customer") }},

{% for order in data.orders %}
  {{ index }}. {{ order.article | upper | raw }} ({{ order.price | money }})
{% end %}
{% if #data.comments > 2 %}Thank you for your {{ #data.comments }} comments.{% end %}

Yours, {{ data.footer | raw }}
]],
}

local seed = 5150
local function random(n)
    seed = seed * 16807 % 2147483647
    return seed % n + 1
end
local vocabulary = {}
for word in ([[a lamp of brass & glass that "nobody" needs, but everybody wants; it's smaller than <expected> and heavier
 than advertised wonderful colour arrived late broken corner would buy again for my aunt in the garden near water]]):gmatch("%S+") do
    vocabulary[#vocabulary + 1] = word
end
local function phrase(n)
    local words = {}
    for i = 1, random(n) do words[i] = vocabulary[random(#vocabulary)] end
    return concat(words, " ")
end

local function make_page(number)
    local data = { title = phrase(5), menu = {}, orders = {}, comments = {}, footer = "page " .. number .. " &copy;",
        user = { title = random(2) == 1 and "Ms" or "Mr", name = random(4) > 1 and phrase(2) or nil } }
    local active = random(6)
    for i, name in ipairs({ "Home", "All articles", "Sale!", "About us", "Contact & help" }) do
        data.menu[i] = { name = name, active = i == active }
    end
    for i = 1, random(12) - 3 do
        local tags = {}
        for j = 1, random(4) do tags[j] = vocabulary[random(#vocabulary)] end
        data.orders[i] = { article = phrase(3), count = random(9), price = random(20000), tags = tags }
    end
    for i = 1, random(7) - 1 do
        data.comments[i] = { by = phrase(2), stars = random(6) - 1, text = phrase(20) }
    end
    return data
end

---------------------------------------------------------------- the work

local engine = Engine.new(sources)
local bytes, sum, kinds = 0, 0, { page = 0, letter = 0 }
for number = 1, 9000 do
    local kind = random(4) == 1 and "letter" or "page"
    local text = engine:render(kind, make_page(number))
    kinds[kind] = kinds[kind] + 1
    bytes = bytes + #text
    for i = 1, #text, 37 do
        sum = (sum * 131 + text:byte(i)) % 1000000007
    end
    if number % 500 == 0 then engine.cache = {} end
    if number == 777 then print(text) end
end
print("pages", kinds.page, "letters", kinds.letter, "bytes", bytes, "sum", format("%d", sum), "compiled", engine.compiled)
local _, message = pcall(engine.translate, engine, "{{ x | nothing }}")
print((message:gsub("^.-:%d+: ", "")))
