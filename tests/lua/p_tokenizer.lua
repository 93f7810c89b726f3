-- A tokenizer on bytes and one on patterns, which must agree, and a calculator with precedence over the tokens.
local function byte_tokens(text)
  local tokens, at, n = {}, 1, #text
  while at <= n do
    local b = text:byte(at)
    local from = at
    if b == 32 or b == 10 then
      at = at + 1
    elseif b >= 48 and b <= 57 then
      repeat at = at + 1; local d = text:byte(at) until not d or (d < 48 or d > 57) and d ~= 46
      tokens[#tokens + 1] = { kind = "number", text = text:sub(from, at - 1) }
    elseif b >= 97 and b <= 122 or b == 95 then
      repeat
        at = at + 1
        local d = text:byte(at) or 0
      until not (d >= 97 and d <= 122 or d >= 48 and d <= 57 or d == 95)
      tokens[#tokens + 1] = { kind = "name", text = text:sub(from, at - 1) }
    else
      local two = text:sub(at, at + 1)
      local length = (two == "<=" or two == "==" or two == "//") and 2 or 1
      tokens[#tokens + 1] = { kind = "op", text = text:sub(at, at + length - 1) }
      at = at + length
    end
  end
  return tokens
end
local rules = { { "^%s+" }, { "^[%d][%d.]*", "number" }, { "^[%l_][%l%d_]*", "name" }, { "^[<=]=", "op" }, { "^//", "op" }, { "^.", "op" } }
local function pattern_tokens(text)
  local tokens, at = {}, 1
  while at <= #text do
    for _, rule in ipairs(rules) do
      local from, to = text:find(rule[1], at)
      if from then
        if rule[2] then tokens[#tokens + 1] = { kind = rule[2], text = text:sub(from, to) } end
        at = to + 1
        break
      end
    end
  end
  return tokens
end
local binary = {
  ["=="] = { 1, function(a, b) return a == b and 1 or 0 end }, ["<="] = { 1, function(a, b) return a <= b and 1 or 0 end },
  ["+"] = { 2, function(a, b) return a + b end }, ["-"] = { 2, function(a, b) return a - b end },
  ["*"] = { 3, function(a, b) return a * b end }, ["/"] = { 3, function(a, b) return a / b end },
  ["//"] = { 3, function(a, b) return a // b end }, ["%"] = { 3, function(a, b) return a % b end },
  ["^"] = { 5, function(a, b) return a ^ b end, true }
}
local function evaluate(tokens, variables)
  local at = 1
  local expression
  local function primary()
    local token = tokens[at] or error("unexpected end", 0)
    at = at + 1
    if token.kind == "number" then return tonumber(token.text) or error("bad number " .. token.text, 0) end
    if token.kind == "name" then return variables[token.text] or error("unknown " .. token.text, 0) end
    if token.text == "-" then return -expression(4) end
    if token.text ~= "(" then error("unexpected " .. token.text, 0) end
    local v = expression(1)
    if not tokens[at] or tokens[at].text ~= ")" then error("missing )", 0) end
    at = at + 1
    return v
  end
  function expression(least)
    local left = primary()
    while true do
      local token = tokens[at]
      local operator = token and token.kind == "op" and binary[token.text]
      if not operator or operator[1] < least then return left end
      at = at + 1
      left = operator[2](left, expression(operator[3] and operator[1] or operator[1] + 1))
    end
  end
  local v = expression(1)
  if tokens[at] then error("unexpected " .. tokens[at].text, 0) end
  return v
end
local texts = {
  "1 + 2 * 3", "(1 + 2) * 3 - x // 2", "2 ^ 3 ^ 2 - y", "-x ^ 2 + 10 % 4", "x * x <= y * 100", "a_1 * (x + (y - 1) * 2)",
  "7 // 2 == 3", "1.5 * x / 4", "((x))", "x - y - 1 - 2"
}
local sum, count, same = 0, 0, true
for i = 1, 120 do
  local text = texts[i % #texts + 1]
  local tokens = byte_tokens(text)
  local others = pattern_tokens(text)
  same = same and #tokens == #others
  for j = 1, #tokens do
    same = same and tokens[j].kind == others[j].kind and tokens[j].text == others[j].text
  end
  count = count + #tokens
  sum = sum + evaluate(tokens, { x = i, y = i % 7, a_1 = i / 2 })
end
print(same, count, sum)
for _, text in ipairs(texts) do print(text, evaluate(byte_tokens(text), { x = 3, y = 4, a_1 = 5 })) end
for _, text in ipairs { "1 +", "(2", "2 )", "1.2.3", "q", "* 2", "1 // 0" } do
  print(text, pcall(evaluate, byte_tokens(text), {}))
end
