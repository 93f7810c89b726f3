-- Regular expressions: a parser makes a tree, a compiler makes a program of it, a machine with a stack of
-- choices runs the program on text. | * + ? and their lazy forms, {m,n}, (groups), (?:...), [sets], . ^ $ \b
-- \d \w \s and their opposites.

local CHAR, ANY, SET, SPLIT, JUMP, SAVE, BEGIN, END, WORD, NOWORD, MATCH = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11

------------------------------------------------------------------ parser
local function new_set() return {} end

local function add_range(set, first, last)
  for c = first, last do set[c] = true end
end

local classes = {
  d = function(s) add_range(s, 48, 57) end,
  w = function(s) add_range(s, 48, 57); add_range(s, 65, 90); add_range(s, 97, 122); s[95] = true end,
  s = function(s) add_range(s, 9, 13); s[32] = true end,
}

local function invert(set)
  local other = {}
  for c = 0, 255 do
    if not set[c] then other[c] = true end
  end
  return other
end

local function class_set(letter)
  local f = classes[letter:lower()]
  if not f then return nil end
  local set = new_set()
  f(set)
  if letter ~= letter:lower() then set = invert(set) end
  return set
end

local WORD_SET = class_set("w")

local function parse(pattern)
  local at, groups = 1, 0
  local parse_choice

  local function peek() return pattern:sub(at, at) end
  local function accept(c)
    if pattern:sub(at, at + #c - 1) == c then
      at = at + #c
      return true
    end
    return false
  end
  local function fail(message)
    error(string.format("%s at %d of '%s'", message, at, pattern), 0)
  end

  local function parse_set()
    local set, negated = new_set(), accept("^")
    repeat
      local c = peek()
      if c == "" then fail("set without end") end
      at = at + 1
      local whole
      if c == "\\" then
        c = peek()
        at = at + 1
        whole = class_set(c)
      end
      if whole then
        for k in pairs(whole) do set[k] = true end
      elseif peek() == "-" and pattern:sub(at + 1, at + 1) ~= "]" then
        local last = pattern:sub(at + 1, at + 1)
        if last == "" then fail("set without end") end
        at = at + 2
        add_range(set, c:byte(), last:byte())
      else
        set[c:byte()] = true
      end
    until accept("]")
    return { kind = "set", set = negated and invert(set) or set }
  end

  local function parse_atom()
    if accept("(?:") then
      local node = parse_choice()
      if not accept(")") then fail("missing )") end
      return node
    elseif accept("(") then
      groups = groups + 1
      local number = groups
      local node = parse_choice()
      if not accept(")") then fail("missing )") end
      return { kind = "group", number = number, node }
    elseif accept("[") then
      return parse_set()
    elseif accept(".") then
      return { kind = "any" }
    elseif accept("^") then
      return { kind = "begin" }
    elseif accept("$") then
      return { kind = "end" }
    elseif accept("\\") then
      local c = peek()
      at = at + 1
      if c == "b" then return { kind = "word" } end
      if c == "B" then return { kind = "noword" } end
      local set = class_set(c)
      if set then return { kind = "set", set = set } end
      return { kind = "char", byte = c:byte() }
    end
    local c = peek()
    if c == "*" or c == "+" or c == "?" then fail("nothing to repeat") end
    at = at + 1
    return { kind = "char", byte = c:byte() }
  end

  local function parse_repeat()
    local node = parse_atom()
    while true do
      local low, high
      if accept("*") then
        low, high = 0, nil
      elseif accept("+") then
        low, high = 1, nil
      elseif accept("?") then
        low, high = 0, 1
      else
        local m, comma, n, after = pattern:match("^{(%d+)(,?)(%d*)}()", at)
        if not m then return node end
        at = after
        low = tonumber(m)
        if comma == "" then high = low else high = tonumber(n) end
      end
      node = { kind = "repeat", low = low, high = high, lazy = accept("?"), node }
    end
  end

  local function parse_sequence()
    local list = { kind = "sequence" }
    while at <= #pattern and peek() ~= "|" and peek() ~= ")" do
      list[#list + 1] = parse_repeat()
    end
    return list
  end

  function parse_choice()
    local node = parse_sequence()
    while accept("|") do
      node = { kind = "choice", node, parse_sequence() }
    end
    return node
  end

  local tree = parse_choice()
  if at <= #pattern then fail("unexpected )") end
  return tree, groups
end

---------------------------------------------------------------- compiler
local emit = {}

local function compile_node(node, out)
  return emit[node.kind](node, out)
end

local function add(out, op, x, y)
  local instruction = { op = op, x = x, y = y }
  out[#out + 1] = instruction
  return instruction
end

emit["char"] = function(node, out) add(out, CHAR, node.byte) end
emit["any"] = function(_, out) add(out, ANY) end
emit["set"] = function(node, out) add(out, SET, node.set) end
emit["begin"] = function(_, out) add(out, BEGIN) end
emit["end"] = function(_, out) add(out, END) end
emit["word"] = function(_, out) add(out, WORD) end
emit["noword"] = function(_, out) add(out, NOWORD) end

emit["sequence"] = function(node, out)
  for _, part in ipairs(node) do compile_node(part, out) end
end

emit["group"] = function(node, out)
  add(out, SAVE, 2 * node.number + 1)
  compile_node(node[1], out)
  add(out, SAVE, 2 * node.number + 2)
end

emit["choice"] = function(node, out)
  local split = add(out, SPLIT, #out + 2)
  compile_node(node[1], out)
  local jump = add(out, JUMP)
  split.y = #out + 1
  compile_node(node[2], out)
  jump.x = #out + 1
end

-- 'x' of a split is tried first.
local function close_split(split, body, after, lazy)
  if lazy then split.x, split.y = after, body else split.x, split.y = body, after end
end

emit["repeat"] = function(node, out)
  for _ = 1, node.low do compile_node(node[1], out) end
  if not node.high then
    local split = add(out, SPLIT)
    local start = #out
    compile_node(node[1], out)
    add(out, JUMP, start)
    close_split(split, start + 1, #out + 1, node.lazy)
  else
    local splits = {}
    for _ = node.low + 1, node.high do
      splits[#splits + 1] = { add(out, SPLIT), #out + 1 }
      compile_node(node[1], out)
    end
    for _, s in ipairs(splits) do close_split(s[1], s[2], #out + 1, node.lazy) end
  end
end

local function compile(pattern)
  local tree, groups = parse(pattern)
  local out = {}
  compile_node(tree, out)
  add(out, MATCH)
  return { code = out, groups = groups, pattern = pattern, steps = 0 }
end

----------------------------------------------------------------- machine
-- Tries to match at 'start'. Returns the places saved: 1 and 2 for the whole, then two for each group.
local function run(regex, text, start)
  local code, n = regex.code, #text
  local stack, top = {}, 0
  local pc, at, saved = 1, start, { start }
  local steps = 0
  while true do
    steps = steps + 1
    local i = code[pc]
    local op = i.op
    if op == CHAR then
      if text:byte(at) ~= i.x then goto back end
      at = at + 1
      pc = pc + 1
    elseif op == SET then
      local c = text:byte(at)
      if not c or not i.x[c] then goto back end
      at = at + 1
      pc = pc + 1
    elseif op == SPLIT then
      stack[top + 1], stack[top + 2], stack[top + 3] = i.y, at, false
      top = top + 3
      pc = i.x
    elseif op == JUMP then
      pc = i.x
    elseif op == ANY then
      if at > n then goto back end
      at = at + 1
      pc = pc + 1
    elseif op == SAVE then
      stack[top + 1], stack[top + 2], stack[top + 3] = i.x, saved[i.x] or false, true
      top = top + 3
      saved[i.x] = at
      pc = pc + 1
    elseif op == BEGIN then
      if at ~= 1 then goto back end
      pc = pc + 1
    elseif op == END then
      if at ~= n + 1 then goto back end
      pc = pc + 1
    elseif op == WORD or op == NOWORD then
      local before, after = WORD_SET[text:byte(at - 1)] or false, WORD_SET[text:byte(at) or 0] or false
      if at == 1 then before = false end
      if (before ~= after) ~= (op == WORD) then goto back end
      pc = pc + 1
    else
      saved[2] = at
      regex.steps = regex.steps + steps
      return saved
    end
    goto continue
    ::back::
    while true do
      if top == 0 then
        regex.steps = regex.steps + steps
        return nil
      end
      local x, y, is_save = stack[top - 2], stack[top - 1], stack[top]
      top = top - 3
      if not is_save then
        pc, at = x, y
        break
      end
      saved[x] = y or nil
    end
    ::continue::
  end
end

local function find(regex, text, from)
  for start = from or 1, #text + 1 do
    local saved = run(regex, text, start)
    if saved then return saved end
  end
  return nil
end

local function find_all(regex, text, visit)
  local at = 1
  while at <= #text + 1 do
    local saved = find(regex, text, at)
    if not saved then return end
    visit(saved)
    at = saved[2] > saved[1] and saved[2] or saved[2] + 1
  end
end

-------------------------------------------------------------------- main
local seed = 8
local function random(n)
  seed = (seed * 48271) % 2147483647
  return seed % n + 1
end
local function pick(list) return list[random(#list)] end

local users = { "ada", "bob_77", "c.ray", "dora-x", "e", "root" }
local pages = { "/index.html", "/img/logo.png", "/a/b/c.php?id=7&x=%20", "/", "/docs/old/faq.html" }
local lines = {}
for i = 1, 700 do
  local kind = random(4)
  if kind == 1 then
    lines[i] = string.format('%d.%d.%d.%d - %s [%02d/Mar/2021:%02d:%02d:%02d +0100] "GET %s HTTP/1.1" %d %d',
      random(255), random(255), random(255), random(255), pick(users), random(28), random(23), random(59),
      random(59), pick(pages), pick { 200, 200, 200, 304, 404, 500 }, random(90000))
  elseif kind == 2 then
    lines[i] = string.format("%s writes to %s@mail%d.example.org about order #%d, price %d.%02d EUR",
      pick(users), pick(users), random(9), random(9999), random(500), random(99))
  elseif kind == 3 then
    lines[i] = string.format("set %s = \"a \\\"quoted\\\" word\" ; x%d = 0x%X + %d.5e-%d -- done",
      pick(users), random(99), random(65535), random(99), random(9))
  else
    lines[i] = ("ab"):rep(random(6)) .. ("a"):rep(random(8)) .. " " .. pick(users) .. " said: hello, hello world world!"
  end
end

local patterns = {
  "(\\d{1,3})\\.(\\d{1,3})\\.(\\d{1,3})\\.(\\d{1,3})",
  "\"(GET|POST) ([^ \"]+) HTTP/1\\.[01]\" (\\d+) (\\d+)$",
  "[\\w.-]+@[\\w-]+(\\.[\\w-]+)+",
  "\"(?:[^\"\\\\]|\\\\.)*\"",
  "\\b0[xX][0-9a-fA-F]+\\b|\\b\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?",
  "^(a|ab|b)*c?",
  "(?:a|aa)+?$|(ab)+a+ ",
  "\\b(h|w)(.*?)l(l?)o?r?(ld)?\\b",
  "(x+x+)+y|price (\\d+)\\.(\\d\\d)",
  "\\Bo\\B|\\S{11,}|;.*--",
}

local total = 0
for _, pattern in ipairs(patterns) do
  local regex = compile(pattern)
  local matches, check, groups = 0, 0, 0
  for number, line in ipairs(lines) do
    find_all(regex, line, function(saved)
      matches = matches + 1
      check = (check * 31 + number * 7 + saved[1] * 3 + saved[2]) % 1000003
      for g = 1, regex.groups do
        local from, to = saved[2 * g + 1], saved[2 * g + 2]
        if from and to then groups = groups + to - from end
      end
    end)
  end
  print(string.format("%-52s %4d matches, check %6d, in groups %5d, steps %7d", pattern, matches, check, groups, regex.steps))
  total = total + regex.steps
end
print("steps " .. total)
for _, bad in ipairs { "(a", "a)", "*a", "[a-" } do
  print(select(2, pcall(compile, bad)))
end
