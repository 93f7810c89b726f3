-- A printer like that of JSON, a reader of what it prints, a deep copy and a comparison, all recursive.
local function escape(c) return ("\\u%04x"):format(c:byte()) end
local function quote(s) return '"' .. s:gsub('[%c"\\]', escape) .. '"' end
local function keys_of(t) local k = {} for key in pairs(t) do k[#k + 1] = key end table.sort(k) return k end
local function print_value(v, indent)
  local kind = type(v)
  if kind == "string" then return quote(v) elseif kind ~= "table" then return tostring(v) end
  local parts = {}
  if #v > 0 then
    for i, item in ipairs(v) do parts[i] = print_value(item, indent + 1) end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  for i, key in ipairs(keys_of(v)) do parts[i] = quote(key) .. ":" .. print_value(v[key], indent + 1) end
  return "{" .. table.concat(parts, ",") .. "}" .. (indent == 0 and ";" or "")
end
local read
local function read_list(s, at, list)
  if s:sub(at, at) == "]" then return list, at + 1 end
  local v
  v, at = read(s, at)
  list[#list + 1] = v
  if s:sub(at, at) == "," then at = at + 1 end
  return read_list(s, at, list)
end
local function read_map(s, at, map)
  if s:sub(at, at) == "}" then return map, at + 1 end
  local k, v
  k, at = read(s, at)
  v, at = read(s, at + 1)
  map[k] = v
  if s:sub(at, at) == "," then at = at + 1 end
  return read_map(s, at, map)
end
function read(s, at)
  local c = s:sub(at, at)
  if c == "[" then return read_list(s, at + 1, {}) end
  if c == "{" then return read_map(s, at + 1, {}) end
  if c == '"' then
    local text, stop = s:match('^"(.-)"()', at)
    return (text:gsub("\\u(%x%x%x%x)", function(h) return string.char(tonumber(h, 16)) end)), stop
  end
  local word, stop = s:match("^([%w.+-]+)()", at)
  if word == "true" then return true, stop elseif word == "false" then return false, stop end
  if not word then error("bad value at " .. at, 0) end
  return tonumber(word), stop
end
local function copy(v)
  if type(v) ~= "table" then return v end
  local t = {}
  for k, x in pairs(v) do t[k] = copy(x) end
  return t
end
local function same(a, b)
  if a == b then return true end
  if type(a) ~= "table" or type(b) ~= "table" then return false end
  for k, v in pairs(a) do if not same(v, b[k]) then return false end end
  for k in pairs(b) do if a[k] == nil then return false end end
  return true
end
local function nest(n, v)
  if n == 0 then return v end
  return n % 2 == 0 and { v = nest(n - 1, v) } or { n, nest(n - 1, v) }
end
local function size(v)
  if type(v) ~= "table" then return 1 end
  local s = 0
  for _, x in pairs(v) do s = s + size(x) end
  return s
end
for i = 1, 14 do
  local v = { name = "item " .. i, list = { 1, 2.5, i, { true, false } } }
  v.deep = nest(i, i % 3 == 0 and "end\n" or i / 4)
  local text = print_value(v, 0)
  local back = read(text, 1)
  print(text)
  print(same(v, back), same(copy(v), v), size(v), print_value(back, 0) == text, same(v, nest(i, 1)))
end
print(pcall(read, "[1,2,*]", 1))
print(pcall(read, "[1,2:", 1))
print(#print_value(nest(100, 0), 0), size(nest(150, { 1, 2, 3 })))
