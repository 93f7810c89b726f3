-- "Wren-ish": an interpreter of a small scripting language. Pratt parser, resolver of names to slots, and a tree walker
-- with one method for each kind of node. Programs in that language are run and print into a buffer.

local unpack = table.unpack or unpack

local Interpreter = {}

------------------------------------------------------------------------------------------------ scanner

local keywords = { var = true, fn = true, ["if"] = true, ["else"] = true, ["while"] = true, ["return"] = true,
  ["for"] = true, ["in"] = true, ["break"] = true, ["true"] = true, ["false"] = true, null = true }

local function scan(source)
  local tokens, at, line = {}, 1, 1
  local function push(kind, value) tokens[#tokens + 1] = { kind = kind, value = value, line = line } end
  while at <= #source do
    local space = source:match("^[ \t]+", at) or source:match("^#[^\n]*", at)
    local name = source:match("^[%a_][%w_]*", at)
    local number = source:match("^%d+%.?%d*", at)
    if space then
      at = at + #space
    elseif source:sub(at, at) == "\n" then
      line = line + 1
      at = at + 1
    elseif name then
      push(keywords[name] and name or "name", name)
      at = at + #name
    elseif number then
      push("number", tonumber(number))
      at = at + #number
    elseif source:sub(at, at) == '"' then
      local text = source:match('^"([^"]*)"', at)
      push("string", (text:gsub("\\n", "\n")))
      at = at + #text + 2
    else
      local op = source:match("^[=!<>]=", at) or source:match("^&&", at) or source:match("^||", at) or source:sub(at, at)
      push(op, op)
      at = at + #op
    end
  end
  push("eof")
  return tokens
end

------------------------------------------------------------------------------------------------ parser

local function parse(source)
  local tokens, at = scan(source), 1
  local scope -- names of the function being parsed
  local expression, block

  local function peek() return tokens[at].kind end
  local function fail(message)
    error(("line %d: %s near %s"):format(tokens[at].line, message, tostring(tokens[at].value)), 0)
  end
  local function expect(kind)
    if tokens[at].kind ~= kind then fail("expected " .. kind) end
    at = at + 1
    return tokens[at - 1].value
  end
  local function accept(kind)
    if tokens[at].kind == kind then
      at = at + 1
      return true
    end
    return false
  end

  local function declare(name)
    local slot = scope.size + 1
    scope.size = slot
    scope.names[#scope.names + 1] = { name = name, slot = slot }
    return slot
  end
  local function lookup(name)
    local depth, s = 0, scope
    while s do
      for i = #s.names, 1, -1 do
        if s.names[i].name == name then return depth, s.names[i].slot end
      end
      s = s.parent
      depth = depth + 1
    end
  end

  local function variable(name)
    local depth, slot = lookup(name)
    if not depth then return { kind = "Global", name = name } end
    if depth == 0 then return { kind = "Local", slot = slot } end
    return { kind = "Outer", depth = depth, slot = slot }
  end

  local function list(close)
    local items = {}
    if not accept(close) then
      repeat items[#items + 1] = expression(0) until not accept(",")
      expect(close)
    end
    return items
  end

  local function fn()
    scope = { parent = scope, names = {}, size = 0 }
    local parameters = 0
    expect("(")
    if not accept(")") then
      repeat
        declare(expect("name"))
        parameters = parameters + 1
      until not accept(",")
      expect(")")
    end
    local body = block()
    scope = scope.parent
    return { kind = "Function", parameters = parameters, body = body }
  end

  local function prefix()
    local token = tokens[at]
    local kind = token.kind
    at = at + 1
    if kind == "number" or kind == "string" then return { kind = "Constant", value = token.value } end
    if kind == "true" or kind == "false" then return { kind = "Constant", value = kind == "true" } end
    if kind == "null" then return { kind = "Constant" } end
    if kind == "name" then return variable(token.value) end
    if kind == "fn" then return fn() end
    if kind == "(" then
      local e = expression(0)
      expect(")")
      return e
    end
    if kind == "[" then return { kind = "List", items = list("]") } end
    if kind == "{" then
      local node = { kind = "Map", keys = {}, values = {} }
      while not accept("}") do
        node.keys[#node.keys + 1] = expect("name")
        expect(":")
        node.values[#node.values + 1] = expression(0)
        accept(",")
      end
      return node
    end
    if kind == "-" then return { kind = "Negate", expression(70) } end
    if kind == "!" then return { kind = "Not", expression(70) } end
    at = at - 1
    fail("unexpected token")
  end

  local powers = { ["||"] = 10, ["&&"] = 20, ["=="] = 30, ["!="] = 30, ["<"] = 40, ["<="] = 40, [">"] = 40, [">="] = 40,
    ["+"] = 50, ["-"] = 50, ["*"] = 60, ["/"] = 60, ["%"] = 60, ["("] = 90, ["["] = 90, ["."] = 90 }
  local kinds = { ["||"] = "Or", ["&&"] = "And", ["=="] = "Equal", ["!="] = "Differ", ["<"] = "Less", ["<="] = "LessEqual",
    [">"] = "Greater", [">="] = "GreaterEqual", ["+"] = "Add", ["-"] = "Subtract", ["*"] = "Multiply", ["/"] = "Divide",
    ["%"] = "Modulo" }

  function expression(power)
    local left = prefix()
    while (powers[peek()] or 0) > power do
      local op = tokens[at].kind
      at = at + 1
      if op == "(" then
        left = { kind = "Call", f = left, arguments = list(")") }
      elseif op == "[" then
        left = { kind = "Index", left, expression(0) }
        expect("]")
      elseif op == "." then
        left = { kind = "Index", left, { kind = "Constant", value = expect("name") } }
      else
        left = { kind = kinds[op], left, expression(powers[op]) }
      end
    end
    return left
  end

  local function statement()
    local line = tokens[at].line
    if accept("var") then
      local name = expect("name")
      expect("=")
      local value = expression(0)
      return { kind = "Assign", target = { kind = "Local", slot = declare(name) }, value = value, line = line }
    elseif peek() == "fn" and tokens[at + 1].kind == "name" then
      at = at + 1
      local slot = declare(expect("name"))
      return { kind = "Assign", target = { kind = "Local", slot = slot }, value = fn(), line = line }
    elseif accept("if") then
      local node = { kind = "If", condition = expression(0), line = line }
      node.yes = block()
      if accept("else") then
        node.no = peek() == "if" and { statement() } or block()
      end
      return node
    elseif accept("while") then
      return { kind = "While", condition = expression(0), body = block(), line = line }
    elseif accept("for") then
      local name = expect("name")
      expect("in")
      local value = expression(0)
      return { kind = "For", list = value, slot = declare(name), body = block(), line = line }
    elseif accept("return") then
      return { kind = "Return", value = peek() ~= "}" and expression(0) or { kind = "Constant" }, line = line }
    elseif accept("break") then
      return { kind = "Break", line = line }
    end
    local e = expression(0)
    if accept("=") then
      return { kind = "Assign", target = e, value = expression(0), line = line }
    end
    return { kind = "Expression", value = e, line = line }
  end

  function block()
    local body, visible = {}, #scope.names
    expect("{")
    while not accept("}") do body[#body + 1] = statement() end
    for i = #scope.names, visible + 1, -1 do scope.names[i] = nil end
    return body
  end

  scope = { names = {}, size = 0 }
  local program = {}
  while peek() ~= "eof" do program[#program + 1] = statement() end
  return program
end

------------------------------------------------------------------------------------------------ walker

local eval, exec = {}, {}
local steps = 0

local function value_of(node, frame)
  return eval[node.kind](node, frame)
end

-- Gives nil, "break", or "return" and the value.
local function run(body, frame)
  for i = 1, #body do
    local statement = body[i]
    steps = steps + 1
    local signal, value = exec[statement.kind](statement, frame)
    if signal then return signal, value end
  end
end

local function call(f, arguments)
  if type(f) == "function" then return f(unpack(arguments)) end
  if type(f) ~= "table" or not f.code then error("not a function", 0) end
  local frame = { parent = f.frame }
  for i = 1, f.code.parameters do frame[i] = arguments[i] end
  local _, value = run(f.code.body, frame)
  return value
end

function eval.Constant(node) return node.value end
function eval.Local(node, frame) return frame[node.slot] end
function eval.Outer(node, frame)
  for _ = 1, node.depth do frame = frame.parent end
  return frame[node.slot]
end
function eval.Global(node)
  local value = Interpreter.globals[node.name]
  if value == nil then error("unknown name " .. node.name, 0) end
  return value
end
function eval.Function(node, frame) return { code = node, frame = frame } end
function eval.List(node, frame)
  local list = {}
  for i, item in ipairs(node.items) do list[i] = value_of(item, frame) end
  return list
end
function eval.Map(node, frame)
  local map = {}
  for i, key in ipairs(node.keys) do map[key] = value_of(node.values[i], frame) end
  return map
end
function eval.Call(node, frame)
  local f = value_of(node.f, frame)
  local arguments = {}
  for i = 1, #node.arguments do arguments[i] = value_of(node.arguments[i], frame) end
  return call(f, arguments)
end
function eval.Index(node, frame)
  local container, key = value_of(node[1], frame), value_of(node[2], frame)
  if type(container) == "string" then return container:sub(key + 1, key + 1) end
  if type(container) ~= "table" then error("cannot index a " .. type(container), 0) end
  if type(key) == "number" then key = key + 1 end
  return container[key]
end
function eval.And(node, frame) return value_of(node[1], frame) and value_of(node[2], frame) end
function eval.Or(node, frame) return value_of(node[1], frame) or value_of(node[2], frame) end
function eval.Not(node, frame) return not value_of(node[1], frame) end
function eval.Negate(node, frame) return -value_of(node[1], frame) end
function eval.Equal(node, frame) return value_of(node[1], frame) == value_of(node[2], frame) end
function eval.Differ(node, frame) return value_of(node[1], frame) ~= value_of(node[2], frame) end
function eval.Less(node, frame) return value_of(node[1], frame) < value_of(node[2], frame) end
function eval.LessEqual(node, frame) return value_of(node[1], frame) <= value_of(node[2], frame) end
function eval.Greater(node, frame) return value_of(node[1], frame) > value_of(node[2], frame) end
function eval.GreaterEqual(node, frame) return value_of(node[1], frame) >= value_of(node[2], frame) end
function eval.Subtract(node, frame) return value_of(node[1], frame) - value_of(node[2], frame) end
function eval.Multiply(node, frame) return value_of(node[1], frame) * value_of(node[2], frame) end
function eval.Divide(node, frame) return math.floor(value_of(node[1], frame) / value_of(node[2], frame)) end
function eval.Modulo(node, frame) return value_of(node[1], frame) % value_of(node[2], frame) end
function eval.Add(node, frame)
  local a, b = value_of(node[1], frame), value_of(node[2], frame)
  if type(a) == "string" or type(b) == "string" then return Interpreter.text(a) .. Interpreter.text(b) end
  return a + b
end

function exec.Expression(node, frame) value_of(node.value, frame) end
function exec.Assign(node, frame)
  local target = node.target
  if target.kind == "Local" then
    frame[target.slot] = value_of(node.value, frame)
  elseif target.kind == "Outer" then
    local value = value_of(node.value, frame)
    for _ = 1, target.depth do frame = frame.parent end
    frame[target.slot] = value
  elseif target.kind == "Index" then
    local container, key = value_of(target[1], frame), value_of(target[2], frame)
    if type(key) == "number" then key = key + 1 end
    container[key] = value_of(node.value, frame)
  else
    error(("line %d: cannot assign"):format(node.line), 0)
  end
end
function exec.If(node, frame)
  if value_of(node.condition, frame) then return run(node.yes, frame) end
  if node.no then return run(node.no, frame) end
end
function exec.While(node, frame)
  while value_of(node.condition, frame) do
    local signal, value = run(node.body, frame)
    if signal == "break" then return end
    if signal then return signal, value end
  end
end
function exec.For(node, frame)
  for _, item in ipairs(value_of(node.list, frame)) do
    frame[node.slot] = item
    local signal, value = run(node.body, frame)
    if signal == "break" then return end
    if signal then return signal, value end
  end
end
function exec.Return(node, frame) return "return", value_of(node.value, frame) end
function exec.Break() return "break" end

function Interpreter.text(value)
  if value == nil then return "null" end
  if type(value) == "number" then return string.format("%d", value) end
  if type(value) == "table" then
    if value.code then return "<fn>" end
    local parts = {}
    for i, item in ipairs(value) do parts[i] = Interpreter.text(item) end
    return "[" .. table.concat(parts, ", ") .. "]"
  end
  return tostring(value)
end

Interpreter.globals = {
  len = function(value) return #value end,
  push = function(list, value) list[#list + 1] = value end,
  pop = function(list) return table.remove(list) end,
  range = function(a, b)
    local list = {}
    for i = a, b - 1 do list[#list + 1] = i end
    return list
  end,
  ord = function(text) return text:byte() end,
  print = function(...)
    local parts = {}
    for i = 1, select("#", ...) do parts[i] = Interpreter.text((select(i, ...))) end
    print(table.concat(parts, " "))
  end,
}

------------------------------------------------------------------------------------------------ programs

local programs = {
  primes = [[
fn primes(n) {
  var composite = []
  var found = []
  for i in range(0, n) { push(composite, false) }
  for i in range(2, n) {
    if !composite[i] {
      push(found, i)
      var j = i * i
      while j < n { composite[j] = true  j = j + i }
    }
  }
  return found
}
var list = primes(20000)
print("primes", len(list), list[len(list) - 1])
]],
  sort = [[
var seed = 99
fn random(n) { seed = seed * 16807 % 2147483647 return seed % n }
fn quick(list, low, high) {
  if low >= high { return null }
  var pivot = list[(low + high) / 2]
  var i = low
  var j = high
  while i <= j {
    while list[i] < pivot { i = i + 1 }
    while pivot < list[j] { j = j - 1 }
    if i <= j {
      var t = list[i]
      list[i] = list[j]
      list[j] = t
      i = i + 1
      j = j - 1
    }
  }
  quick(list, low, j)
  quick(list, i, high)
}
var list = []
for i in range(0, 6000) { push(list, random(10000)) }
quick(list, 0, len(list) - 1)
var sum = 0
for i in range(0, len(list)) { sum = (sum * 7 + list[i]) % 1000003 }
print("sort", list[0], list[3000], list[5999], sum)
]],
  closures = [[
fn counter(step) {
  var n = 0
  return { next: fn() { n = n + step return n }, reset: fn() { n = 0 } }
}
fn map(list, f) { var out = [] for x in list { push(out, f(x)) } return out }
fn fold(list, f, z) { for x in list { z = f(z, x) } return z }
var c = counter(3)
var total = 0
for i in range(0, 9000) {
  total = total + c.next()
  if i % 37 == 0 { c.reset() }
}
var squares = map(range(0, 7000), fn(x) { return x * x % 11 })
print("closures", total, fold(squares, fn(a, b) { return a + b }, 0))
]],
  calculator = [[
# A recursive-descent calculator, written in the language itself.
fn parse(text) {
  var at = 0
  var expression = null
  fn digit(c) { return c >= "0" && c <= "9" }
  fn factor() {
    if text[at] == "(" {
      at = at + 1
      var inner = expression()
      at = at + 1
      return inner
    }
    if text[at] == "-" { at = at + 1 return -factor() }
    var n = 0
    while at < len(text) && digit(text[at]) { n = n * 10 + ord(text[at]) - 48  at = at + 1 }
    return n
  }
  fn term() {
    var value = factor()
    while text[at] == "*" || text[at] == "/" {
      var op = text[at]
      at = at + 1
      var right = factor()
      if op == "*" { value = value * right % 65521 } else if right == 0 { value = 0 } else { value = value / right }
    }
    return value
  }
  expression = fn() {
    var value = term()
    while text[at] == "+" || text[at] == "-" {
      var op = text[at]
      at = at + 1
      if op == "+" { value = value + term() } else { value = value - term() }
    }
    return value
  }
  return expression()
}
var seed = 5
fn random(n) { seed = seed * 16807 % 2147483647 return seed % n }
fn write(depth) {
  var r = random(6)
  if depth == 0 || r == 0 { return "" + random(1000) }
  if r == 1 { return "(" + write(depth - 1) + ")" }
  if r == 2 { return "-" + write(0) }
  var ops = "+-*/"
  return write(depth - 1) + ops[random(4)] + write(depth - 1)
}
var sum = 0
for i in range(0, 700) { sum = (sum * 31 + parse(write(5))) % 1000003 }
print("calculator", sum)
]],
  collatz = [[
var best = 0
var most = 0
for start in range(1, 1500) {
  var n = start
  var length = 1
  while n != 1 {
    if n % 2 == 0 { n = n / 2 } else { n = 3 * n + 1 }
    length = length + 1
  }
  if length > most { best = start  most = length }
}
fn fib(n) { if n < 2 { return n } return fib(n - 1) + fib(n - 2) }
fn hanoi(n, a, b, c) { if n == 0 { return 0 } return hanoi(n - 1, a, c, b) + 1 + hanoi(n - 1, c, b, a) }
print("collatz", best, most, "fib", fib(20), "hanoi", hanoi(10, "a", "b", "c"))
]],
  queens = [[
fn solve(n) {
  var columns = []
  var count = 0
  fn safe(row, column) {
    for r in range(0, row) {
      var c = columns[r]
      if c == column || c - column == row - r || column - c == row - r { return false }
    }
    return true
  }
  fn place(row) {
    if row == n { count = count + 1 return null }
    for column in range(0, n) {
      if safe(row, column) { columns[row] = column  place(row + 1) }
    }
  }
  for i in range(0, n) { push(columns, 0) }
  place(0)
  return count
}
print("queens", solve(5), solve(6), solve(7))
]],
  wrong = [[
var list = [1, 2, 3]
print("before", list, len(list))
print(list.length())
]],
}

for _, name in ipairs({ "primes", "sort", "closures", "calculator", "collatz", "queens", "wrong" }) do
  local before = steps
  local ok, message = pcall(function() run(parse(programs[name]), {}) end)
  print("", name, ok, message or "", steps - before)
end
