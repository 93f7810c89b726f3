-- A JSON encoder and decoder: escapes, numbers of both kinds, nesting, sorted keys, errors with positions, round trips.
local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\t"] = "\\t", ["\r"] = "\\r" }
local function quote(s)
  return '"' .. s:gsub('[%c"\\]', function(c) return escapes[c] or ("\\u%04x"):format(c:byte()) end) .. '"'
end
local encode
local function encode_list(t, out)
  out[#out + 1] = "["
  for i = 1, #t do
    if i > 1 then out[#out + 1] = "," end
    encode(t[i], out)
  end
  out[#out + 1] = "]"
end
local function encode_object(t, out)
  local keys = {}
  for k in pairs(t) do keys[#keys + 1] = k end
  table.sort(keys)
  out[#out + 1] = "{"
  for i, k in ipairs(keys) do
    if i > 1 then out[#out + 1] = "," end
    out[#out + 1] = quote(k)
    out[#out + 1] = ":"
    encode(t[k], out)
  end
  out[#out + 1] = "}"
end
function encode(v, out)
  local kind = type(v)
  if kind == "table" then
    if #v > 0 or next(v) == nil then encode_list(v, out) else encode_object(v, out) end
  elseif kind == "string" then out[#out + 1] = quote(v)
  elseif math.type(v) == "integer" then out[#out + 1] = ("%d"):format(v)
  elseif kind == "number" then
    if v ~= v or v == 1 / 0 or v == -1 / 0 then error("number has no JSON form: " .. v, 0) end
    out[#out + 1] = ("%.14g"):format(v)
  elseif kind == "boolean" then out[#out + 1] = tostring(v)
  else error("cannot encode a " .. kind, 0) end
end
local function to_json(v) local out = {} encode(v, out) return table.concat(out) end

local plain = { n = "\n", t = "\t", r = "\r", ['"'] = '"', ["\\"] = "\\", ["/"] = "/" }
local function decode(text)
  local at = 1
  local function fail(what) error(("%s at %d"):format(what, at), 0) end
  local function space() at = text:find("%S", at) or #text + 1 end
  local value
  local function string()
    at = at + 1
    local parts = {}
    while true do
      local c = text:sub(at, at)
      if c == "" then fail("open string")
      elseif c == '"' then at = at + 1 return table.concat(parts)
      elseif c == "\\" then
        local e = text:sub(at + 1, at + 1)
        if e == "u" then
          parts[#parts + 1] = utf8.char(tonumber(text:sub(at + 2, at + 5), 16) or fail("bad escape"))
          at = at + 6
        else
          parts[#parts + 1] = plain[e] or fail("bad escape")
          at = at + 2
        end
      else
        local stop = text:find('["\\]', at) or fail("open string")
        parts[#parts + 1] = text:sub(at, stop - 1)
        at = stop
      end
    end
  end
  local function items(close, item)
    at = at + 1
    space()
    if text:sub(at, at) == close then at = at + 1 return end
    repeat
      item()
      space()
      local c = text:sub(at, at)
      at = at + 1
      if c ~= "," and c ~= close then at = at - 1 fail("expected , or " .. close) end
    until c == close
  end
  local words = { ["true"] = true, ["false"] = false }
  function value()
    space()
    local c = text:sub(at, at)
    if c == '"' then return string() end
    if c == "[" then
      local list = {}
      items("]", function() list[#list + 1] = value() end)
      return list
    end
    if c == "{" then
      local object = {}
      items("}", function()
        space()
        if text:sub(at, at) ~= '"' then fail("expected a key") end
        local k = string()
        space()
        if text:sub(at, at) ~= ":" then fail("expected :") end
        at = at + 1
        object[k] = value()
      end)
      return object
    end
    local number = text:match("^-?%d+%.?%d*[eE]?[+-]?%d*", at)
    if number then at = at + #number return tonumber(number) end
    local word = text:match("^%a+", at)
    if words[word] == nil then fail("unexpected " .. (c == "" and "end" or c)) end
    at = at + #word
    return words[word]
  end
  local v = value()
  space()
  if at <= #text then fail("more text") end
  return v
end

local list = {}
for i = 1, 60 do
  list[i] = { id = i, name = "item " .. i, price = i * 1.25, tags = { "a" .. i % 3, i % 2 == 0 }, odd = i % 2 == 1, empty = {} }
end
local text = to_json(list)
print(#text, text:sub(1, 120))
local again = to_json(decode(text))
print(again == text)
local total, odd = 0, 0
for _, item in ipairs(decode(text)) do
  total = total + item.price * #item.tags
  if item.odd then odd = odd + 1 end
end
print(total, odd)
print(to_json { "tab\tquote\"back\\slash\1", -0.5, 1e300, 12345678901234, {}, { { { 1 } } } })
for _, bad in ipairs { '[1,2', '{"a" 1}', '"abc', '[1 2]', '{1:2}', 'nope', '[1]x', '"\\q"', '' } do print(pcall(decode, bad)) end
local ok = 0
for i = 1, 80 do
  local value = i % 10 == 0 and 0 / 0 or i % 7 == 0 and print or i % 3 == 0 and i / 2 or i
  local good, result = pcall(to_json, { value })
  if good then ok = ok + #result elseif i < 15 then print(i, (result:gsub("%-?nan", "nan"))) end
end
print(ok)
