#!/usr/bin/env lua
-- A linter for Lua. It reads its own source, and then what is left of that when lines are lost, doubled or swapped, as
-- while somebody is typing. Messages are counted by kind.
--
-- It checks: unused, unset and shadowed locals, globals that are written or unknown, empty blocks, code after
-- `return`, comparisons of constants, long lines, trailing spaces, mixed indentation, unbalanced blocks.

local MAX_LINE = 120

local std = {}
for name in string.gmatch([[assert error getmetatable ipairs load next pairs pcall print rawequal rawget rawset require
  select setmetatable tonumber tostring type math string table io os arg coroutine _G]], "%S+") do
  std[name] = true
end

local keyword = {}
for word in string.gmatch([[and break do else elseif end false for function goto if in local nil not or repeat return
  then true until while]], "%S+") do
  keyword[word] = true
end

--- Lexer ----------------------------------------------------------------------------------------------------------

local function lex(src)
  local tokens, n, i, line = {}, 0, 1, 1
  local find, sub = string.find, string.sub
  local function add(kind, text)
    n = n + 1
    tokens[n] = { kind = kind, text = text, line = line }
  end
  while true do
    local s, e = find(src, "^[ \t\r]+", i)
    if s then i = e + 1 end
    local c = sub(src, i, i)
    if c == "" then
      break
    elseif c == "\n" then
      line = line + 1
      i = i + 1
    elseif find(src, "^%-%-%[=*%[", i) or find(src, "^%[=*%[", i) then
      local comment = c == "-"
      local _, open, level = find(src, "^%-?%-?%[(=*)%[", i)
      local _, close = find(src, "]" .. level .. "]", open + 1, true)
      if not close then error({ line = line, text = "unfinished long bracket" }) end
      local body = sub(src, i, close)
      if not comment then add("string", body) end
      for _ in string.gmatch(body, "\n") do line = line + 1 end
      i = close + 1
    elseif c == "-" and sub(src, i + 1, i + 1) == "-" then
      i = find(src, "\n", i, true) or #src + 1
    elseif c == "#" and i == 1 then
      i = find(src, "\n", i, true) or #src + 1
    elseif find(c, "[%a_]") then
      local _, stop = find(src, "^[%w_]+", i)
      local word = sub(src, i, stop)
      add(keyword[word] and word or "name", word)
      i = stop + 1
    elseif find(src, "^%.?%d", i) then
      local _, stop = find(src, "^0[xX]%x+", i)
      if not stop then _, stop = find(src, "^%d*%.?%d*[eE]?%d*", i) end
      add("number", sub(src, i, stop))
      i = stop + 1
    elseif c == '"' or c == "'" then
      local j = i + 1
      while true do
        local d = sub(src, j, j)
        if d == c then break end
        if d == "" or d == "\n" then error({ line = line, text = "unfinished string" }) end
        j = j + (d == "\\" and 2 or 1)
      end
      add("string", sub(src, i, j))
      i = j + 1
    else
      local op = string.match(src, "^%.%.%.", i) or string.match(src, "^[=~<>]=", i) or string.match(src, "^%.%.", i)
        or string.match(src, "^::", i) or c
      add(op, op)
      i = i + #op
    end
  end
  add("eof", "<eof>")
  return tokens
end

--- Parser and checks ------------------------------------------------------------------------------------------------

local Checker = {}
Checker.__index = Checker

function Checker.new(src)
  return setmetatable({ tokens = lex(src), at = 1, scope = nil, messages = {} }, Checker)
end

function Checker:warn(kind, line, text)
  self.messages[#self.messages + 1] = { kind = kind, line = line, text = text }
end

function Checker:token() return self.tokens[self.at] end
function Checker:is(kind) return self.tokens[self.at].kind == kind end

function Checker:next()
  local token = self.tokens[self.at]
  self.at = self.at + 1
  return token
end

function Checker:accept(kind)
  if self.tokens[self.at].kind == kind then return self:next() end
end

function Checker:expect(kind, opener)
  local token = self:token()
  if token.kind ~= kind then
    local text = "expected '" .. kind .. "' near '" .. token.text .. "'"
    if opener then text = text .. " (to close line " .. opener.line .. ")" end
    error({ line = token.line, text = text })
  end
  return self:next()
end

function Checker:open() self.scope = { parent = self.scope, names = {}, order = {} } end

function Checker:close()
  for _, variable in ipairs(self.scope.order) do
    if variable.reads == 0 and variable.name ~= "_" and variable.name ~= "self" then
      local kind = variable.parameter and "unused parameter"
        or variable.writes > 0 and "only written" or "unused"
      self:warn(kind, variable.line, variable.name)
    end
  end
  self.scope = self.scope.parent
end

function Checker:resolve(name)
  local scope = self.scope
  while scope do
    local variable = scope.names[name]
    if variable then return variable, scope end
    scope = scope.parent
  end
end

function Checker:declare(name, line, parameter)
  local old, scope = self:resolve(name)
  if old and name ~= "_" and name ~= "self" then
    self:warn(scope == self.scope and "redefined" or "shadowed", line, name)
  end
  local variable = { name = name, line = line, reads = 0, writes = 0, parameter = parameter }
  self.scope.names[name] = variable
  table.insert(self.scope.order, variable)
end

function Checker:read(name, line)
  local variable = self:resolve(name)
  if variable then
    variable.reads = variable.reads + 1
  elseif not std[name] then
    self:warn("unknown global", line, name)
  end
end

function Checker:write(target)
  if target.kind ~= "name" then return end
  local variable = self:resolve(target.name)
  if variable then
    variable.writes = variable.writes + 1
  else
    self:warn("global written", target.line, target.name)
  end
end

local block_end = { eof = true, ["end"] = true, ["else"] = true, ["elseif"] = true, ["until"] = true }

function Checker:block(opener)
  local count = 0
  while not block_end[self:token().kind] do
    local token = self:token()
    if token.kind == "return" then
      self:next()
      if not block_end[self:token().kind] and not self:is(";") then self:list() end
      self:accept(";")
      if not block_end[self:token().kind] then self:warn("unreachable", self:token().line, "code after return") end
    else
      self:statement()
    end
    count = count + 1
  end
  if count == 0 and opener then self:warn("empty block", opener.line, opener.text) end
end

function Checker:scoped(opener)
  self:open()
  self:block(opener)
  self:close()
end

function Checker:condition()
  local e = self:expression()
  if e.kind == "constant" then self:warn("constant condition", e.line, e.text) end
end

local statement = {}
function Checker:statement()
  local token = self:token()
  local handler = statement[token.kind]
  if handler then
    self:next()
    return handler(self, token)
  end
  local target = self:suffixed()
  if self:is("=") or self:is(",") then
    local targets = { target }
    while self:accept(",") do targets[#targets + 1] = self:suffixed() end
    self:expect("=")
    self:list()
    for _, t in ipairs(targets) do self:write(t) end
  elseif target.kind ~= "call" then
    error({ line = token.line, text = "syntax error near '" .. self:token().text .. "'" })
  elseif target.name then
    self:read(target.name, target.line)
  end
end

statement[";"] = function() end
statement["break"] = function() end
statement["goto"] = function(self) self:expect("name") end
statement["::"] = function(self) self:expect("name"); self:expect("::") end
statement["do"] = function(self, token) self:scoped(token); self:expect("end", token) end
statement["while"] = function(self, token)
  local constant = self:is("true")
  if constant then self:next() else self:condition() end
  self:expect("do")
  self:scoped(token)
  self:expect("end", token)
end
statement["repeat"] = function(self, token)
  self:open()
  self:block(token)
  self:expect("until", token)
  self:condition()
  self:close()
end
statement["if"] = function(self, token)
  repeat
    self:condition()
    self:expect("then")
    self:scoped(token)
  until not self:accept("elseif")
  if self:accept("else") then self:scoped(token) end
  self:expect("end", token)
end
statement["for"] = function(self, token)
  local names = { self:expect("name") }
  if self:accept("=") then
    if self:list() < 2 then self:warn("odd for", token.line, "one bound") end
  else
    while self:accept(",") do names[#names + 1] = self:expect("name") end
    self:expect("in")
    self:list()
  end
  self:expect("do")
  self:open()
  for _, name in ipairs(names) do self:declare(name.text, name.line) end
  self:block(token)
  self:close()
  self:expect("end", token)
end
statement["function"] = function(self, token)
  local first = self:expect("name")
  local method, field = false, false
  while self:is(".") or self:is(":") do
    field = true
    method = self:next().kind == ":"
    self:expect("name")
  end
  if field then
    self:read(first.text, first.line)
  else
    self:write({ kind = "name", name = first.text, line = first.line })
  end
  self:body(token, method)
end
statement["local"] = function(self)
  local start = self:accept("function")
  if start then
    local name = self:expect("name")
    self:declare(name.text, name.line)
    return self:body(start, false)
  end
  local names = {}
  repeat names[#names + 1] = self:expect("name") until not self:accept(",")
  if self:accept("=") then
    local count, open = self:list()
    if count > #names then self:warn("too many values", names[1].line, names[1].text) end
    if count < #names and not open then self:warn("too few values", names[1].line, names[#names].text) end
  end
  for _, name in ipairs(names) do self:declare(name.text, name.line) end
end

function Checker:body(opener, method)
  self:open()
  if method then self:declare("self", opener.line, true) end
  self:expect("(")
  if not self:accept(")") then
    repeat
      if self:accept("...") then break end
      local name = self:expect("name")
      self:declare(name.text, name.line, true)
    until not self:accept(",")
    self:expect(")")
  end
  self:block()
  self:close()
  self:expect("end", opener)
end

-- Gives the number of expressions and whether the last may give more values.
function Checker:list()
  local count, last = 0, nil
  repeat
    count = count + 1
    last = self:expression()
  until not self:accept(",")
  return count, last.kind == "call" or last.kind == "vararg"
end

function Checker:suffixed()
  local token = self:next()
  local e
  if token.kind == "name" then
    e = { kind = "name", name = token.text, line = token.line }
  elseif token.kind == "(" then
    self:expression()
    self:expect(")", token)
    e = { kind = "group", line = token.line }
  else
    error({ line = token.line, text = "unexpected '" .. token.text .. "'" })
  end
  while true do
    local kind = self:token().kind
    if not (kind == "." or kind == "[" or kind == ":" or kind == "(" or kind == "string" or kind == "{") then return e end
    if e.kind == "name" then self:read(e.name, e.line) end
    self:next()
    if kind == "." then
      self:expect("name")
      e = { kind = "index", line = token.line }
    elseif kind == "[" then
      self:expression()
      self:expect("]")
      e = { kind = "index", line = token.line }
    else
      if kind == ":" then
        self:expect("name")
        kind = self:next().kind
      end
      if kind == "(" then
        if not self:accept(")") then
          self:list()
          self:expect(")", token)
        end
      elseif kind == "{" then
        self:constructor(token)
      end
      e = { kind = "call", line = token.line }
    end
  end
end

function Checker:constructor(opener)
  local keys = {}
  while not self:is("}") do
    local token = self:token()
    if token.kind == "[" then
      self:next()
      self:expression()
      self:expect("]")
      self:expect("=")
    elseif token.kind == "name" and self.tokens[self.at + 1].kind == "=" then
      self.at = self.at + 2
      if keys[token.text] then self:warn("duplicate key", token.line, token.text) end
      keys[token.text] = true
    end
    self:expression()
    if not self:accept(",") and not self:accept(";") then break end
  end
  self:expect("}", opener)
end

local priority = { ["or"] = 1, ["and"] = 2, ["<"] = 3, [">"] = 3, ["<="] = 3, [">="] = 3, ["~="] = 3, ["=="] = 3,
  [".."] = 5, ["+"] = 6, ["-"] = 6, ["*"] = 7, ["/"] = 7, ["%"] = 7, ["^"] = 10 }

function Checker:simple()
  local token = self:token()
  local kind = token.kind
  if kind == "not" or kind == "-" or kind == "#" then
    self:next()
    self:expression(8)
    return { kind = "unary", line = token.line }
  elseif kind == "number" or kind == "string" or kind == "nil" or kind == "true" or kind == "false" then
    self:next()
    return { kind = "constant", text = token.text, line = token.line }
  elseif kind == "..." then
    self:next()
    return { kind = "vararg", line = token.line }
  elseif kind == "{" then
    self:next()
    self:constructor(token)
    return { kind = "table", line = token.line }
  elseif kind == "function" then
    self:next()
    self:body(token, false)
    return { kind = "function", line = token.line }
  end
  local e = self:suffixed()
  if e.kind == "name" then self:read(e.name, e.line) end
  return e
end

function Checker:expression(limit)
  limit = limit or 0
  local left = self:simple()
  while true do
    local op = self:token()
    local p = priority[op.kind]
    if not p or p <= limit then return left end
    self:next()
    local right = self:expression((op.kind == ".." or op.kind == "^") and p - 1 or p)
    if p == 3 and left.kind == "constant" and right.kind == "constant" then
      self:warn("constant comparison", op.line, left.text .. op.text .. right.text)
    elseif p == 3 and right.text == "nil" and op.kind ~= "==" and op.kind ~= "~=" then
      self:warn("ordered with nil", op.line, op.text)
    end
    left = { kind = "binary", line = op.line }
  end
end

local function check_lines(src, messages)
  local number = 0
  for text in string.gmatch(src, "([^\n]*)\n") do
    number = number + 1
    local function warn(kind) messages[#messages + 1] = { kind = kind, line = number, text = "" } end
    if #text > MAX_LINE then warn("long line") end
    if string.find(text, "%s$") then warn("trailing space") end
    if string.find(text, "^ *\t") then warn("tab") end
    local indent = string.match(text, "^ *")
    if #indent % 2 == 1 then warn("odd indentation") end
  end
end

local function lint(src)
  local messages = {}
  check_lines(src, messages)
  local ok, problem = pcall(function()
    local checker = Checker.new(src)
    checker.messages = messages
    checker:open()
    checker:block()
    if not checker:is("eof") then error({ line = checker:token().line, text = "'<eof>' expected" }) end
    checker:close()
  end)
  if not ok then
    if type(problem) ~= "table" then error(problem) end
    messages[#messages + 1] = { kind = "error", line = problem.line, text = problem.text }
  end
  table.sort(messages, function(a, b)
    if a.line ~= b.line then return a.line < b.line end
    if a.kind ~= b.kind then return a.kind < b.kind end
    return a.text < b.text
  end)
  return messages
end

--- The work -----------------------------------------------------------------------------------------------------------

local file = assert(io.open(arg[0]))
local source = file:read("*a")
file:close()

local lines = {}
for text in string.gmatch(source, "([^\n]*)\n") do lines[#lines + 1] = text end

local seed = 60606
local function random(n)
  seed = seed * 16807 % 2147483647
  return seed % n + 1
end

-- A copy of the source with one to three accidents.
local function damaged()
  local copy = {}
  for i, text in ipairs(lines) do copy[i] = text end
  for _ = 1, random(3) do
    local at, what = random(#copy - 1), random(6)
    if what == 1 then
      table.remove(copy, at)
    elseif what == 2 then
      table.insert(copy, at, copy[random(#copy)])
    elseif what == 3 then
      copy[at], copy[at + 1] = copy[at + 1], copy[at]
    elseif what == 4 then
      copy[at] = copy[at] .. string.rep(" ", random(3)) .. "-- fix this"
    elseif what == 5 then
      copy[at] = string.gsub(copy[at], "%a+", function(word) return random(4) == 1 and string.sub(word, 2) or word end)
    else
      copy[at] = string.sub(copy[at], 1, random(#copy[at] + 1)) .. " "
    end
  end
  return table.concat(copy, "\n") .. "\n"
end

local own = lint(source)
print("messages about its own source: " .. #own)
for _, message in ipairs(own) do print(string.format("%d: %s %s", message.line, message.kind, message.text)) end

local kinds, names, sum = {}, {}, 0
for _ = 1, 100 do
  for _, message in ipairs(lint(damaged())) do
    if not kinds[message.kind] then
      kinds[message.kind] = 0
      names[#names + 1] = message.kind
    end
    kinds[message.kind] = kinds[message.kind] + 1
    sum = (sum * 37 + message.line + #message.text) % 1000000007
  end
end
table.sort(names)
for _, name in ipairs(names) do print(string.format("%-20s %6d", name, kinds[name])) end
print("sum", string.format("%d", sum))
