-- State machines with goto: CSV with quotes and line ends of every kind, C comments, and numbers checked by their digits.
local function csv(text)
  local rows, row, field, at, c = {}, {}, {}, 0, nil
  local function keep() row[#row + 1] = table.concat(field) field = {} end
  local function end_row() keep() rows[#rows + 1] = row row = {} end
  ::start::
  at = at + 1
  c = text:sub(at, at)
  if c == "" then goto finish end
  if c == '"' then goto quoted end
  ::plain::
  if c == "," then keep() goto start end
  if c == "\n" then end_row() goto start end
  if c == "\r" then
    if text:sub(at + 1, at + 1) == "\n" then at = at + 1 end
    end_row()
    goto start
  end
  if c == "" then goto finish end
  field[#field + 1] = c
  at = at + 1
  c = text:sub(at, at)
  goto plain
  ::quoted::
  do
    local stop = text:find('"', at + 1, true)
    if not stop then error("open quote in row " .. #rows + 1, 0) end
    field[#field + 1] = text:sub(at + 1, stop - 1)
    at = stop + 1
    c = text:sub(at, at)
    if c == '"' then field[#field + 1] = '"' goto quoted end
    goto plain
  end
  ::finish::
  if #row > 0 or #field > 0 then end_row() end
  return rows
end
for _, row in ipairs(csv('a,b,"c ""q"" d"\r\n1,,"x,\ny"\n"",z,\rlast')) do
  print(#row, (table.concat(row, "|"):gsub("\n", "\\n")))
end
print(pcall(csv, 'a\n"b'))
local lines = {}
for i = 1, 60 do lines[i] = i .. (i % 4 == 0 and ',"n ' .. i .. ', ""' or ',"n" ' .. i .. ',"') .. i * 1.5 .. '"' end
local ok, fields, sum = true, 0, 0
for _, row in ipairs(csv(table.concat(lines, "\n"))) do
  fields = fields + #row
  sum = sum + tonumber(row[1]) + #row[#row]
end
print(fields, sum)
local function without_comments(text)
  local out, i, n, b = {}, 0, #text, nil
  ::code::
  i = i + 1
  if i > n then goto done end
  b = text:byte(i)
  if b == 47 then
    if text:byte(i + 1) == 47 then i = i + 1 goto line end
    if text:byte(i + 1) == 42 then i = i + 1 goto block end
  end
  out[#out + 1] = string.char(b)
  if b == 34 then goto text end
  goto code
  ::line::
  i = i + 1
  if i > n then goto done end
  if text:byte(i) == 10 then out[#out + 1] = "\n" goto code end
  goto line
  ::block::
  i = i + 1
  if i > n then goto done end
  if text:byte(i) == 42 and text:byte(i + 1) == 47 then
    i = i + 1
    out[#out + 1] = " "
    goto code
  end
  goto block
  ::text::
  i = i + 1
  if i > n then goto done end
  b = text:byte(i)
  out[#out + 1] = string.char(b)
  if b == 92 then
    i = i + 1
    out[#out + 1] = text:sub(i, i)
    goto text
  end
  if b == 34 then goto code end
  goto text
  ::done::
  return table.concat(out)
end
print(without_comments('int a; /* one\n * two */ b = "/* no */ \\" // no"; // yes\nc / d /**/; //'))
print(#without_comments(("x /* y */ z // w\n"):rep(12)))
local function is_number(s)
  local i = 1
  if s:find("^[+-]") then i = 2 end
  local digits, c = 0, nil
  ::whole::
  c = s:byte(i)
  if c and c >= 48 and c <= 57 then i = i + 1 digits = digits + 1 goto whole end
  if c ~= 46 then goto exponent end
  i = i + 1
  ::fraction::
  c = s:byte(i)
  if c and c >= 48 and c <= 57 then i = i + 1 digits = digits + 1 goto fraction end
  ::exponent::
  if digits == 0 then return false end
  if c == nil then return true end
  if c ~= 69 and c ~= 101 then return false end
  i = i + 1
  if s:find("^[+-]", i) then i = i + 1 end
  if i > #s then return false end
  ::power::
  c = s:byte(i)
  if c == nil then return true end
  if c >= 48 and c <= 57 then i = i + 1 goto power end
  return false
end
local texts = { "1", "-1.5", "+.5", ".", "", "1e5", "1e", "1.e+3", "e3", "12a", "0x1", "--1", "1.2.3", "3E-02" }
local agree, yes = 0, 0
for i = 1, 140 do
  local s = texts[i % #texts + 1]
  local mine = is_number(s)
  if mine then yes = yes + 1 end
  if mine == (tonumber(s) ~= nil) then agree = agree + 1 elseif i <= 14 then print("differs", s) end
end
print(agree, yes, ok)
