-- Patterns whose first item, repeated items and what follows '-' are found by tables: all must match as they do
-- character by character; also those that are wrong.
local items = { "a", "%a", "%A", "%d", "%s", "%w", "%x", "%p", "%c", "%g", "%l", "%u", "%z", ".", "[abc]", "[^abc]",
                "[a-c]", "[%a_]", "[^%s,]", "[]]", "[^]]", "[a-]", "[%]]", "[%-x]", "[]-a]", "%.", "%%", "[%d.]",
                "[a", "[", "[^", "%", "[a%", "[%a-z]", "\0", "[\0-\31]", "[\128-\255]", "é" }
local suffixes = { "", "*", "+", "-", "?" }
local rests = { "", "b", "%d", "()", "[,;]", "%1", "%bxy", "%f[%w]", "$" }
local subjects = { "", "aaab", "abc1 x,y;", "  xy.z]%-", "a\0b\200\0été" }
local sum, count, errors = 0, 0, 0
local function note (...)
  local t = table.pack(...)
  for i = 1, t.n do
    local s = tostring(t[i])
    for c = 1, #s do sum = (sum * 31 + s:byte(c)) % 1000000007 end
    sum = (sum * 7 + 1) % 1000000007
  end
  count = count + 1
  if t[1] == false then errors = errors + 1 end
end
for _, item in ipairs(items) do
  sum = 0
  for _, suffix in ipairs(suffixes) do
    for _, rest in ipairs(rests) do
      for _, form in ipairs { "%s", "^(%s)", "()%s", "(%s" } do
        local p = form:gsub("%%s", function () return item .. suffix .. rest end)
        for _, s in ipairs(subjects) do
          note(pcall(string.find, s, p))
          note(pcall(string.match, s, p, 2))
          note(pcall(string.gsub, s, p, "<%0>"))
          note(pcall(function ()
            local all = { }
            for a, b in s:gmatch(p) do all[#all + 1] = tostring(a) .. ":" .. tostring(b) if #all > 20 then break end end
            return table.concat(all, " ")
          end))
        end
      end
    end
  end
  print(#item, count, errors, sum)
end
-- many different sets, more than there is room for, and long ones
for n = 1, 300 do
  local set = "[" .. string.char(97 + n % 26) .. "-z" .. n .. (n % 7 == 0 and ("qwertyuiopasdfghjklzxcvbnm"):rep(2) or "") .. "]"
  note(("the quick brown fox " .. n):gsub(set .. "+", "."))
  note(("the quick brown fox " .. n):find("[^" .. n .. "]-" .. set))
end
print(count, errors, sum)
-- long subjects, replacements of all kinds, limits
local text = ("name = value, <tag attr=\"x\">text & more</tag>\n"):rep(50)
print(select(2, text:gsub("[&<>\"]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;" })))
print(#text:gsub("%s+", " "), #text:gsub("<(%a+).->", function (t) return "[" .. t .. "]" end), text:gsub("x", "y", 3) == text)
print(#text:gsub("", "-"), #text:gsub("%s*", ""), #text:gsub(".-\n", "%0%0"), text:find("<tag.-</tag>", 60))
print(pcall(string.gsub, ("a"):rep(2000), ".-b", "x"))
print(pcall(string.find, ("a"):rep(220000), ("a?"):rep(220000) .. "b"))
print(pcall(string.rep, "x", -1), ("x"):rep(3, ","), ("%d"):format(3), pcall(string.format, "%d", 3.5))
