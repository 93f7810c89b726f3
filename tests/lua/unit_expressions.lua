-- A recursive parser of arithmetic, an evaluator of its trees, one that simplifies and one that prints them.
local text, at
local function peek() return text:sub(at, at) end
local expression
local function factor()
  local c = peek()
  if c == "(" then
    at = at + 1
    local e = expression()
    at = at + 1
    return e
  elseif c == "-" then
    at = at + 1
    return { op = "neg", factor() }
  end
  local number = text:match("^%d+%.?%d*", at)
  if number then at = at + #number return { op = "number", value = tonumber(number) } end
  local name = text:match("^%a+", at)
  if not name then error("unexpected '" .. c .. "' at " .. at, 0) end
  at = at + #name
  return { op = "name", name = name }
end
local function product()
  local e = factor()
  while peek() == "*" or peek() == "/" or peek() == "%" do
    local op = peek()
    at = at + 1
    e = { op = op, e, factor() }
  end
  return e
end
function expression()
  local e = product()
  while peek() == "+" or peek() == "-" do
    local op = peek()
    at = at + 1
    e = { op = op, e, product() }
  end
  return e
end
local function parse(s) text, at = s:gsub(" ", ""), 1 local e = expression() return e end
local function eval(e, vars)
  local op = e.op
  if op == "number" then return e.value
  elseif op == "name" then return vars[e.name]
  elseif op == "neg" then return -eval(e[1], vars)
  elseif op == "+" then return eval(e[1], vars) + eval(e[2], vars)
  elseif op == "-" then return eval(e[1], vars) - eval(e[2], vars)
  elseif op == "*" then return eval(e[1], vars) * eval(e[2], vars)
  elseif op == "%" then return eval(e[1], vars) % eval(e[2], vars)
  else return eval(e[1], vars) / eval(e[2], vars) end
end
local function show(e)
  if e.op == "number" then return tostring(e.value) elseif e.op == "name" then return e.name
  elseif e.op == "neg" then return "-" .. show(e[1]) end
  return "(" .. show(e[1]) .. e.op .. show(e[2]) .. ")"
end
local function simple(e)
  if e.op == "number" or e.op == "name" then return e end
  local a = simple(e[1])
  if e.op == "neg" then
    return a.op == "number" and { op = "number", value = -a.value } or { op = "neg", a }
  end
  local b = simple(e[2])
  if a.op == "number" and b.op == "number" then
    return { op = "number", value = eval({ op = e.op, a, b }) }
  end
  if e.op == "*" and (a.value == 1 or b.value == 1) then return a.value == 1 and b or a end
  return { op = e.op, a, b }
end
local function depth(e) if not e then return 0 end return 1 + math.max(depth(e[1]), depth(e[2])) end
local sources = { "1+2*3", "(x+1)*(x-1)", "-(-y)+4/2", "2*3.5%4-x", "((((((z))))))*1+0", 
  "x*x*x-3*x*x+2*y-(z+1)*(z-(2+3))" }
for round = 1, 6 do
  for i, s in ipairs(sources) do
    local e = parse(s)
    local vars = { x = round, y = round % 2 == 0 and 1.5 or 7, z = round == 5 and "4" or 3 }
    print(show(e), depth(e), eval(e, vars), show(simple(e)), eval(simple(e), vars))
  end
end
print(pcall(eval, parse("a+1"), {}))
print(pcall(eval, parse("7%zero"), { zero = 0 }))
print(pcall(parse, "1+*2"))
print(pcall(eval, { op = "+", { op = "number", value = 1 } }, {}))
