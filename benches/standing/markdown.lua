#!/usr/bin/env lua

-- Markdown to HTML by patterns: blocks first (headings, lists, quotes, code, tables, rules), then spans inside them
-- (emphasis, code, links, images, automatic links, escapes), with gsub and functions for nearly all of it.

local gsub, find, match, format = string.gsub, string.find, string.match, string.format

-------------------------------------------------------------------------------
-- Helpers
-------------------------------------------------------------------------------

local function split(text)
   local lines = {}
   for line in (text .. "\n"):gmatch("(.-)\n") do
      lines[#lines + 1] = line
   end
   return lines
end

local function trim(s) return (gsub(gsub(s, "^%s+", ""), "%s+$", "")) end

local function escape_html(s)
   return (gsub(s, "[&<>\"]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }))
end

-- Finished pieces of HTML are hidden behind marks, so that later patterns do not see them.
local hidden, hidden_count

local function hide(html)
   hidden_count = hidden_count + 1
   hidden[hidden_count] = html
   return "\1" .. hidden_count .. "\2"
end

local function unhide(s)
   local n
   repeat
      s, n = gsub(s, "\1(%d+)\2", function(number) return hidden[tonumber(number)] end)
   until n == 0
   return s
end

-------------------------------------------------------------------------------
-- Spans
-------------------------------------------------------------------------------

local references = {}

local function code_spans(s)
   return (gsub(s, "(`+)(.-[^`])%1", function(_, code)
      return hide("<code>" .. escape_html(trim(code)) .. "</code>")
   end))
end

local function escapes(s)
   return (gsub(s, "\\([\\`*_{}%[%]()#+%-.!>|])", function(c) return hide(escape_html(c)) end))
end

local function images(s)
   return (gsub(s, "!%[([^%]]*)%]%(([^)%s]+)%s*\"?([^\")]*)\"?%)", function(alt, url, title)
      title = title ~= "" and format(' title="%s"', escape_html(title)) or ""
      return hide(format('<img src="%s" alt="%s"%s>', escape_html(url), escape_html(alt), title))
   end))
end

local spans

local function links(s)
   s = gsub(s, "%[([^%]]+)%]%(([^)%s]+)%s*\"?([^\")]*)\"?%)", function(text, url, title)
      title = title ~= "" and format(' title="%s"', escape_html(title)) or ""
      return hide(format('<a href="%s"%s>', escape_html(url), title)) .. text .. hide("</a>")
   end)
   s = gsub(s, "%[([^%]]+)%] ?%[([^%]]*)%]", function(text, id)
      local reference = references[(id == "" and text or id):lower()]
      if not reference then return nil end
      return hide(format('<a href="%s">', escape_html(reference))) .. text .. hide("</a>")
   end)
   return (gsub(s, "<(%a+://[^>%s]+)>", function(url)
      url = escape_html(url)
      return hide(format('<a href="%s">%s</a>', url, url))
   end))
end

local function emphasis(s)
   for _, c in ipairs({ "%*", "_" }) do
      s = gsub(s, c .. c .. "(%S.-%S?)" .. c .. c, "<strong>%1</strong>")
      s = gsub(s, "(.?)" .. c .. "(%S)" .. c .. "(.?)", function(before, text, after)
         if c == "_" and find(before .. after, "%w") then return nil end
         return before .. "<em>" .. text .. "</em>" .. after
      end)
      s = gsub(s, "%f[%S]" .. c .. "(%S[^*_]-%S)" .. c, "<em>%1</em>")
   end
   return (gsub(s, "~~(.-)~~", "<del>%1</del>"))
end

function spans(s)
   s = code_spans(s)
   s = escapes(s)
   s = images(s)
   s = links(s)
   s = gsub(s, "&(%w*;?)", function(rest) return find(rest, "^%w+;$") and "&" .. rest or "&amp;" .. rest end)
   s = gsub(s, "<([^%a/!])", "&lt;%1")
   s = emphasis(s)
   s = gsub(s, "  +\n", "<br>\n")
   s = gsub(s, "%-%-%-?", { ["--"] = "&ndash;", ["---"] = "&mdash;" })
   s = gsub(s, "%.%.%.", "&hellip;")
   return (gsub(s, "(%w)'(%w)", "%1&rsquo;%2"))
end

-------------------------------------------------------------------------------
-- Blocks
-------------------------------------------------------------------------------

local blocks

local slugs
local function heading(level, text)
   local slug = gsub(gsub(text:lower(), "[^%w%s-]", ""), "%s+", "-")
   slugs[slug] = (slugs[slug] or 0) + 1
   if slugs[slug] > 1 then slug = slug .. "-" .. slugs[slug] end
   return format('<h%d id="%s">%s</h%d>', level, slug, spans(text), level)
end

local function list_marker(line)
   local indent, marker, rest = match(line, "^( *)([*+-])%s+(.*)$")
   if not indent then indent, marker, rest = match(line, "^( *)(%d+%.)%s+(.*)$") end
   if indent then return #indent, find(marker, "%d") and "ol" or "ul", rest end
end

local function list(lines, i)
   local indent, kind = list_marker(lines[i])
   local items, current = {}, nil
   while lines[i] do
      local line = lines[i]
      local at, other, rest = list_marker(line)
      if at and at <= indent then
         if at < indent or other ~= kind then break end
         current = { rest }
         items[#items + 1] = current
      elseif find(line, "^%s*$") then
         local following = lines[i + 1] or ""
         if not find(following, "^%s") and list_marker(following) == nil then break end
         current.loose = true
         current[#current + 1] = ""
      elseif at or find(line, "^  ") then
         current[#current + 1] = gsub(line, "^" .. (" "):rep(math.min(indent + 2, #match(line, "^ *"))), "")
      else
         current[#current + 1] = line
      end
      i = i + 1
   end
   local out = { "<" .. kind .. ">" }
   for _, item in ipairs(items) do
      local html = blocks(item, not item.loose)
      out[#out + 1] = "<li>" .. html .. "</li>"
   end
   out[#out + 1] = "</" .. kind .. ">"
   return table.concat(out, "\n"), i
end

local function cells(line)
   local result = {}
   line = gsub(gsub(trim(line), "^|", ""), "|$", "")
   for cell in (line .. "|"):gmatch("%s*(.-)%s*|") do
      result[#result + 1] = cell
   end
   return result
end

local function html_table(lines, i)
   local header, rule = cells(lines[i]), cells(lines[i + 1])
   local align = {}
   for k, cell in ipairs(rule) do
      local left, right = find(cell, "^:"), find(cell, ":$")
      align[k] = left and right and ' align="center"' or right and ' align="right"' or ""
   end
   local function row(tag, list_of_cells)
      local out = {}
      for k = 1, #header do
         out[k] = format("<%s%s>%s</%s>", tag, align[k] or "", spans(list_of_cells[k] or ""), tag)
      end
      return "<tr>" .. table.concat(out) .. "</tr>"
   end
   local out = { "<table>", row("th", header) }
   i = i + 2
   while lines[i] and find(lines[i], "|", 1, true) do
      out[#out + 1] = row("td", cells(lines[i]))
      i = i + 1
   end
   out[#out + 1] = "</table>"
   return table.concat(out, "\n"), i
end

local function starts_block(line)
   return find(line, "^%s*$") or find(line, "^#+%s") or find(line, "^>") or find(line, "^```") or list_marker(line)
      or find(line, "^[-*_][-*_ ]+$")
end

function blocks(lines, tight)
   local out, i = {}, 1
   local function emit(html) out[#out + 1] = html end
   while lines[i] do
      local line = lines[i]
      local hashes, title = match(line, "^(#+)%s+(.-)%s*#*$")
      if find(line, "^%s*$") then
         i = i + 1
      elseif hashes and #hashes <= 6 then
         emit(heading(#hashes, title))
         i = i + 1
      elseif find(line, "^```") then
         local language, code = match(line, "^```(%w*)"), {}
         i = i + 1
         while lines[i] and not find(lines[i], "^```") do
            code[#code + 1] = escape_html(lines[i])
            i = i + 1
         end
         local class = language ~= "" and format(' class="%s"', language) or ""
         emit(hide(format("<pre><code%s>%s\n</code></pre>", class, table.concat(code, "\n"))))
         i = i + 1
      elseif find(line, "^    ") then
         local code = {}
         while lines[i] and find(lines[i], "^    ") do
            code[#code + 1] = escape_html(lines[i]:sub(5))
            i = i + 1
         end
         emit(hide("<pre><code>" .. table.concat(code, "\n") .. "\n</code></pre>"))
      elseif find(line, "^>") then
         local quoted = {}
         while lines[i] and not find(lines[i], "^%s*$") do
            quoted[#quoted + 1] = gsub(lines[i], "^> ?", "")
            i = i + 1
         end
         emit("<blockquote>\n" .. blocks(quoted) .. "\n</blockquote>")
      elseif find(line, "^%s*([-*_]) *%1 *%1[-*_ ]*$") then
         emit("<hr>")
         i = i + 1
      elseif list_marker(line) then
         local html
         html, i = list(lines, i)
         emit(html)
      elseif find(line, "|", 1, true) and find(lines[i + 1] or "", "^|?[%s:|-]+$") and find(lines[i + 1], "-", 1, true) then
         local html
         html, i = html_table(lines, i)
         emit(html)
      else
         local paragraph = {}
         repeat
            paragraph[#paragraph + 1] = gsub(lines[i], "^%s+", "")
            i = i + 1
         until not lines[i] or starts_block(lines[i])
         local text = table.concat(paragraph, "\n")
         if find(lines[i] or "", "^%-%-+$") and #paragraph == 1 then
            emit(heading(2, text))
            i = i + 1
         else
            emit(tight and spans(text) or "<p>" .. spans(text) .. "</p>")
         end
      end
   end
   return table.concat(out, "\n")
end

local function markdown(text)
   hidden, hidden_count, references, slugs = {}, 0, {}, {}
   text = gsub(gsub(text, "\r\n?", "\n"), "\t", "    ")
   text = gsub("\n" .. text, "\n%[([^%]\n]+)%]:%s*(%S+)[^\n]*", function(id, url)
      references[id:lower()] = url
      return ""
   end)
   return unhide(blocks(split(text)))
end

-------------------------------------------------------------------------------
-- Documents
-------------------------------------------------------------------------------

local sample = [[
# The *fast* guide & more

Some text with **strong words**, _soft words_, `code <b>` and a [link](http://example.org/?a=1&b=2 "A title").
It's a long story -- see <http://example.org/> or [the manual][man]...  
New line. \*Not emphasis\* and snake_case_names stay; 2 * 3 * 4 too.

Second heading
--------------

1. one
2. two
   * nested *item*
   * another with `a``b`
3. three

> A quote, said ~~he~~ she,
> over two lines.
>
> - and a list

| name | size | price |
|:-----|:----:|------:|
| lamp | **big** | 12 |
| rug  | 2x3 | 99 &euro; |

```lua
local x <const> = "a" & "b"
```

    indented & code

![alt text](image.png "Picture") ends it. AT&T <3

***

[man]: http://example.org/manual
]]

local seed = 1618033
local function random(n)
   seed = seed * 16807 % 2147483647
   return seed % n + 1
end

local vocabulary = {}
for word in ([[when the parser has read a line it looks for marks that begin a block otherwise the line belongs to some
paragraph which ends at an empty one users expect that "quotes" don't matter & that a<b stays what it was the table
module_name version 2.0 isn't ready yet see chapter (four) for details; performance however, is another matter]]):gmatch("%S+") do
   vocabulary[#vocabulary + 1] = word
end
local function words(n)
   local list_of_words = {}
   for i = 1, n do list_of_words[i] = vocabulary[random(#vocabulary)] end
   return table.concat(list_of_words, " ")
end

local inline = {
   function() return "**" .. words(2) .. "**" end,
   function() return "*" .. words(3) .. "*" end,
   function() return "_" .. words(1) .. "_" end,
   function() return "`" .. words(2) .. "`" end,
   function() return "[" .. words(2) .. "](http://example.org/" .. random(99) .. ")" end,
   function() return "[" .. words(1) .. "][ref" .. random(4) .. "]" end,
   function() return "![" .. words(1) .. "](pic" .. random(9) .. ".png)" end,
   function() return "\\*" .. words(1) end,
   function() return "--" end,
   function() return "~~" .. words(2) .. "~~" end,
}

local function sentence()
   local parts = { words(random(6)) }
   for _ = 1, random(4) - 1 do
      parts[#parts + 1] = inline[random(#inline)]()
      parts[#parts + 1] = words(random(5))
   end
   return table.concat(parts, " ") .. "."
end

local function paragraph()
   local sentences = {}
   for i = 1, random(5) do sentences[i] = sentence() .. (random(9) == 1 and "  " or "") end
   return table.concat(sentences, "\n")
end

local kinds = {
   function() return ("#"):rep(random(4)) .. " " .. words(3) end,
   function() return words(2) .. "\n-----" end,
   paragraph, paragraph, paragraph, paragraph,
   function() return (gsub("\n" .. paragraph(), "\n", "\n> ")) end,
   function() return "```c\nif (a < b && c) {\n" .. words(6) .. ";\n}\n```" end,
   function() return "    " .. words(5) .. "\n    " .. words(3) end,
   function()
      local items = {}
      for i = 1, 2 + random(4) do
         items[#items + 1] = (random(4) == 1 and i > 1 and "  - " or "* ") .. sentence()
         if random(8) == 1 then items[#items + 1] = "" end
      end
      return table.concat(items, "\n")
   end,
   function()
      local items = {}
      for i = 1, 1 + random(4) do items[i] = i .. ". " .. sentence() end
      return table.concat(items, "\n")
   end,
   function()
      local rows = { "| a | b | c |", "|---|:-:|--:|" }
      for _ = 1, random(5) do rows[#rows + 1] = "| " .. words(2) .. " | " .. inline[random(4)]() .. " | " .. random(500) .. " |" end
      return table.concat(rows, "\n")
   end,
   function() return random(2) == 1 and "---" or "* * *" end,
}

local function document(n)
   local parts = {}
   for i = 1, n do parts[i] = kinds[random(#kinds)]() end
   for i = 1, 3 do parts[#parts + 1] = format("[ref%d]: http://example.org/ref/%d", i, i) end
   return table.concat(parts, "\n\n")
end

-------------------------------------------------------------------------------
-- The work
-------------------------------------------------------------------------------

print(markdown(sample))
local size_in, size_out, sum, tags = 0, 0, 0, {}
for _ = 1, 350 do
   local text = document(10 + random(30))
   local html = markdown(text)
   size_in, size_out = size_in + #text, size_out + #html
   for tag in html:gmatch("<(%w+)") do tags[tag] = (tags[tag] or 0) + 1 end
   for i = 1, #html, 7 do sum = (sum * 33 + html:byte(i)) % 1000000007 end
end
print("in", size_in, "out", size_out, "sum", format("%d", sum))
for _, tag in ipairs({ "p", "em", "strong", "a", "code", "pre", "ul", "ol", "li", "h2", "td", "img", "del", "blockquote", "hr" }) do
   print(tag, tags[tag])
end
