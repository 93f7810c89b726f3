-- Texts that baseline code makes itself: string.format with everything that it knows and does not know,
-- reverse, lower, upper, rep, tostring, tonumber; with too few arguments and with wrong ones.
local function put(f, ...) local s = f(...) return s end
local function put_all(f, ...) return f(...) end
local function put_two(f, ...) local s, t = f(...) return s, t end
local function show(ok, ...)
  local t = table.pack(...)
  for i = 1, t.n do
    local v = t[i]
    t[i] = type(v) == "string" and ("%q"):format(v) or math.type(v) == "float" and ("%a"):format(v)
      or type(v) == "table" and "table" or tostring(v)
  end
  return tostring(ok) .. " " .. t.n .. " " .. table.concat(t, " ")
end
local sum, count = 0, 0
local function take(line, is_shown)
  count = count + 1
  for i = 1, #line do sum = (sum * 31 + line:byte(i)) % 1000000007 end
  if is_shown then print(line) end
end

local forms = { "", "plain", "%%", "100%%!", "%d", "%5d", "%-5d|", "%05d", "%+d", "% d", "%.3d", "%5.3d",
  "%+05d", "%-05d|",
  "%x", "%X", "%#x", "%08x", "%o", "%u", "%i", "%c", "%5c", "%s", "%10s", "%-10s|", "%.2s", "%10.2s",
    "%010s", "%f", "%.2f",
  "%8.3f", "%-8.1f|", "%+.1f", "%08.2f", "%#.0f", "%e", "%.3e", "%g", "%.14g", "%.3g", "%G", "%E", "%a", "%q",
  "%p", "%", "%z", "%123d", "%1.123f", "%--5d|", "%0005d", "%5%", "a%db%sc%5.1fd%%e", "%s %s %s", "%d\0%d",
    "\0", "%ld",
  "%  d", "%00d", "%.d", "%.f", "%5.d", "%99d", "%.99f", "%s", "%99s", "%-99s|" }
local arguments = { 0, 1, -1, 42, -42, math.maxinteger, math.mininteger, 3.0, 2.5, -0.0, 1e15, 1e100,
  1e308, math.huge,
  0 / 0, "", "text", "7", "0x10", "a\0b", ("long "):rep(30), true, {}, 255, 65 }
for round = 1, 3 do
  for i, form in ipairs(forms) do
    for j, a in ipairs(arguments) do
      if not (form == "%p" and type(a) ~= "number" and type(a) ~= "boolean") and not (form:find("s", 1,
        true) and type(a) == "table") then
        local b = arguments[j % #arguments + 1]
        if type(b) == "table" then b = "t" end
        take(show(pcall(put, string.format, form, a, b, a)), round == 1 and j % 9 == 5)
        if j % 4 == 0 then take(show(pcall(put_all, string.format, form, a, b, 3))) end
        if j % 5 == 0 then take(show(pcall(put_two, string.format, form, a, b, 4))) end
      end
    end
    take(show(pcall(put, string.format, form)))
  end
end
print(count, sum)
local named = setmetatable({}, { __tostring = function() return "named" end, __name = "Named" })
for _ = 1, 3 do print(put(string.format, "%s %7s|", named, named)) end
for n = 490, 520, 3 do print(#put(string.format, ("x"):rep(n) .. "%d%s", n, "y"), #put(string.format, "%s",
  ("z"):rep(n))) end

-- the others
local subjects = { "", "a", "Hello, World", "ÄÖ\255\0z", ("Abc"):rep(20), ("q"):rep(511), ("q"):rep(513),
  12, 2.5 }
for round = 1, 3 do
  for _, f in ipairs({ string.reverse, string.lower, string.upper, tostring, tonumber }) do
    for _, s in ipairs(subjects) do
      take(show(pcall(put, f, s)), round == 1 and #tostring(s) < 20)
      take(show(pcall(put_all, f, s)))
      take(show(pcall(put_two, f, s)))
    end
    take(show(pcall(put, f)), round == 1)
    take(show(pcall(put, f, nil)), round == 1)
  end
  for _, n in ipairs({ 0, 1, 3, -1, 170, 171, 172, 600, 2.0, "3" }) do
    for _, s in ipairs(subjects) do
      take(show(pcall(put, string.rep, s, n)))
      take(show(pcall(put, string.rep, s, n, ",")))
    end
  end
  for _, s in ipairs({ "1", " 1 ", "1.", ".5", "1e1", "0x1p4", "0x", "1e", "1 2", "1\0", "", " ", "-7",
    "- 7", "9223372036854775807",
    "9223372036854775808", "0xffffffffffffffff", "inf", "nan", "1_000", true, {}, 5, 5.5 }) do
    take(show(pcall(put, tonumber, s)), round == 1)
    take(show(pcall(put, tonumber, s, 10)))
    take(show(pcall(put, tonumber, s, 99)))
    take(show(pcall(put, tonumber, s, nil)))
  end
  for _, n in ipairs({ 0, -0.0, 1e15, 1e100, -12, math.mininteger, 0.1, 3.0, true, "s" }) do
    take(show(pcall(put, tostring, n)), round == 1)
    take(show(pcall(put_all, tostring, n)))
  end
end
print(count, sum)
-- a metatable for all strings, and one for all numbers
local of_strings = getmetatable("")
of_strings.__tostring = function(s) return "<" .. #s .. ">" end
for _ = 1, 3 do print(put(tostring, "abc"), put(tostring, 12), put(string.format, "%s|%d", "abc", 5)) end
of_strings.__tostring = nil
debug.setmetatable(1, { __tostring = function(n) return "#" .. n end, __name = "Num" })
for _ = 1, 3 do print(put(tostring, "abc"), put(tostring, 12), put(tostring, 1.5), put(string.format,
  "%s|%d", 7, 5)) end
debug.setmetatable(1, nil)
for _ = 1, 3 do print(put(tostring, 12), put(string.format, "%s|%5s", 7, 5)) end
-- many, so that there are collections
local made = {}
for i = 1, 3000 do made[i % 50] = put(string.format, "%s-%06d-%s", "item", i,
  tostring(i)):reverse():upper() end
print(made[0], made[49])
