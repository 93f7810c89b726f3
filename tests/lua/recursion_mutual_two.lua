-- Two functions that call each other: parity, Hofstadter's sequences, a tree and its forest, tokens and
-- groups; with arguments that swap, and with results of different types.
local is_odd
local function is_even(n)
  if n == 0 then return true end
  return (is_odd(n - 1))
end
function is_odd(n)
  if n == 0 then return false end
  local r = is_even(n - 1)
  return r
end
local text = {}
for n = 0, 90 do
  text[#text + 1] = is_even(n) and (is_odd(n + 1) and "e" or "?") or (is_odd(n) and "o" or "?")
end
print(table.concat(text))

local male
local function female(n)
  if n == 0 then return 1 end
  return n - male(female(n - 1))
end
function male(n)
  if n == 0 then return 0 end
  return n - female(male(n - 1))
end
text = {}
for n = 0, 17 do text[#text + 1] = female(n) .. ":" .. male(n) end
print(table.concat(text, " "))

local forest_size
local function tree_size(t) return 1 + forest_size(t.children, 1) end
function forest_size(list, at)
  local t = list[at]
  if t == nil then return 0 end
  return tree_size(t) + forest_size(list, at + 1)
end
local function build(n, width)
  local t = { children = {} }
  for i = 1, width do
    if n - i > 0 then t.children[i] = build(n - i, width) end
  end
  return t
end
for n = 1, 9 do io.write(tree_size(build(n, 3)), " ") end
print()

local function parse(s)
  local at = 1
  local group
  local function item()
    local c = s:sub(at, at)
    if c == "(" then
      at = at + 1
      return group(")")
    end
    at = at + 1
    return tonumber(c) or 0
  end
  function group(stop)
    local sum = 0
    while at <= #s do
      if s:sub(at, at) == stop then at = at + 1 break end
      sum = sum * 2 + item()
    end
    return sum
  end
  return group("")
end
local source = "1"
for i = 1, 14 do
  source = "(" .. source .. ")" .. i % 10
  print(parse(source), parse(source .. source) % 1000)
end

-- Arguments that swap at each call, integers that become floats and texts.
local down
local function up(a, b, n)
  if n == 0 then return a, b end
  return down(b, a + 1, n - 1)
end
function down(a, b, n)
  if n == 0 then return b, a end
  local x, y = up(b * 2, a, n - 1)
  return x, y
end
for n = 1, 40, 3 do print(n, up(1, 2.5, n), down(1, 2, n)) end
local mixed
local function number(n) if n <= 0 then return n end return mixed(n - 1) + 0.5 end
function mixed(n) if n <= 0 then return "10" end return number(n - 1) * 1 end
text = {}
for n = 1, 60 do text[n] = tostring(number(n)) end
print(table.concat(text, " "))
