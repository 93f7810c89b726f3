-- A parser by recursive descent with methods, and a printer for the same values with plain functions: deep
-- nesting, errors with positions from deep inside, values that are shared by several parents.
local Parser = {}
Parser.__index = Parser
function Parser:fail(what) error(what .. " at " .. self.at, 0) end
function Parser:space() self.at = self.text:find("[^ ]", self.at) or #self.text + 1 end
function Parser:value()
  self:space()
  local c = self.text:sub(self.at, self.at)
  if c == "[" then return self:array() end
  if c == "{" then return self:object() end
  if c == "'" then return self:string() end
  local word = self.text:match("^[%w%.%-]+", self.at)
  if not word then self:fail("value expected") end
  self.at = self.at + #word
  if word == "true" then return true end
  if word == "false" then return false end
  return tonumber(word) or self:fail("bad word " .. word)
end
function Parser:string()
  local s, stop = self.text:match("^'([^']*)'()", self.at)
  if not s then self:fail("open text") end
  self.at = stop
  return s
end
function Parser:list(close, item)
  self.at = self.at + 1
  local n = 0
  self:space()
  while self.text:sub(self.at, self.at) ~= close do
    n = n + 1
    if n > 1 then
      if self.text:sub(self.at, self.at) ~= "," then self:fail("comma expected") end
      self.at = self.at + 1
    end
    item(n)
    self:space()
  end
  self.at = self.at + 1
end
function Parser:array()
  local a = {}
  self:list("]", function(n) a[n] = self:value() end)
  return a
end
function Parser:object()
  local o, names = {}, {}
  self:list("}", function(n)
    self:space()
    local name = self.text:match("^%a%w*", self.at) or self:fail("name expected")
    self.at = self.at + #name
    if self.text:sub(self.at, self.at) ~= ":" then self:fail("colon expected") end
    self.at = self.at + 1
    o[name] = self:value()
    names[n] = name
  end)
  o[1] = names
  return o
end
local function parse(text)
  local p = setmetatable({ text = text, at = 1 }, Parser)
  local v = p:value()
  p:space()
  if p.at <= #text then p:fail("rest") end
  return v
end

local show
local function show_array(v, depth)
  local out = {}
  for i, x in ipairs(v) do out[i] = show(x, depth + 1) end
  return "[" .. table.concat(out, ",") .. "]"
end
local function show_object(v, depth)
  local out = {}
  for i, name in ipairs(v[1]) do out[i] = name .. ":" .. show(v[name], depth + 1) end
  return "{" .. table.concat(out, ",") .. "}"
end
function show(v, depth)
  if depth > 12 then return "..." end
  local t = type(v)
  if t == "string" then return "'" .. v .. "'" end
  if t ~= "table" then return tostring(v) end
  if type(v[1]) == "table" and next(v[1]) ~= nil and type(v[1][1]) == "string" and v[v[1][1]] ~= nil then
    return show_object(v, depth)
  end
  return show_array(v, depth)
end

local texts = {
  "1", "[1, 2.5,-3]", "{a:1,b:[true,false],c:{d:'x y',e:0x10}}", "[[[[[[1],2],3],4],5],6]", "[",
  "[1,,2]", "{a 1}", "'open", "[1 2]", "{a:[1,{b:[2,{c:[3,{d:oops}]}]}]}", "7 8", "",
}
for round = 1, 10 do
  for _, text in ipairs(texts) do
    local ok, v = pcall(parse, text)
    local s = ok and show(v, 0) or v
    if ok and s:find("...", 1, true) == nil and show(parse(s), 0) ~= s then s = "not the same: " .. s end
    if round == 1 or round == 10 then print(text, ok, s) end
  end
end
for depth = 5, 60, 11 do
  local text = ("["):rep(depth) .. depth .. ("]"):rep(depth)
  local ok, v = pcall(parse, text)
  local n = 0
  while type(v) == "table" do v, n = v[1], n + 1 end
  print(depth, ok, n, v, pcall(parse, text .. "]"))
  print(pcall(parse, text:sub(1, -2)))
end
local shared = { 1, 2, { 3 } }
print(show({ shared, shared, { shared } }, 0), show({ {}, { {} } }, 11))
