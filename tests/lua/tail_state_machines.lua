-- State machines by tail calls: a scanner of numbers and words, an automaton with its states in a table, a
-- machine whose states are closures, and the Collatz sequence through three states; thousands of transitions.
local text, at, out
local start, digits, fraction, word, quoted
function start()
  local c = text:sub(at, at)
  if c == "" then return #out end
  if c:find("^%d") then return digits(0) end
  if c:find("^%a") then return word(at) end
  if c == '"' then
    at = at + 1
    return quoted(at)
  end
  at = at + 1
  return start()
end
function digits(value)
  local c = text:byte(at)
  if c and c >= 48 and c <= 57 then
    at = at + 1
    return digits(value * 10 + c - 48)
  end
  if c == 46 then
    at = at + 1
    return fraction(value, 0.1)
  end
  out[#out + 1] = value
  return start()
end
function fraction(value, scale)
  local c = text:byte(at)
  if c and c >= 48 and c <= 57 then
    at = at + 1
    return fraction(value + (c - 48) * scale, scale / 10)
  end
  out[#out + 1] = value
  return start()
end
function word(from)
  at = at + 1
  if text:find("^%w", at) then return word(from) end
  out[#out + 1] = text:sub(from, at - 1)
  return start()
end
function quoted(from)
  local c = text:sub(at, at)
  if c == "" then return nil, "open text at " .. from - 1 end
  at = at + 1
  if c == '"' then
    out[#out + 1] = "<" .. text:sub(from, at - 2) .. ">"
    return start()
  end
  return quoted(from)
end
local piece = 'abc 123 x9 4.25 "some words" 7 '
for n = 1, 25, 3 do
  text, at, out = piece:rep(n), 1, {}
  local count, message = start()
  print(n, count, message, out[count], out[#out - 2], out[4])
end
text, at, out = piece .. '"never', 1, {}
print(start())
text, at, out = "1.5" .. (" "):rep(1500) .. "2", 1, {}
print(start(), out[1], out[2])

-- States in a table: words with an even number of a and a number of b that three divides.
local machine = {}
for a = 0, 1 do
  for b = 0, 2 do
    machine[a .. b] = function(s, i)
      local c = s:byte(i)
      if c == nil then return a == 0 and b == 0, a .. b end
      if c == 97 then return machine[1 - a .. b](s, i + 1) end
      if c == 98 then return machine[a .. (b + 1) % 3](s, i + 1) end
      return machine[a .. b](s, i + 1)
    end
  end
end
local accepted = 0
for n = 0, 150 do
  local s = {}
  for i = 1, n % 20 do s[i] = (n * i) % 3 == 0 and "a" or (n * i) % 7 < 3 and "b" or "c" end
  local ok, state = machine["00"](table.concat(s), 1)
  if ok then accepted = accepted + 1 end
  if n % 25 == 0 then print(n, ok, state, accepted) end
end
print(machine["00"](("aabbbc"):rep(150), 1))

-- States that are closures over their successors, which are set later.
local function state(name, step)
  local next_state
  return function(n, log)
    log[name] = (log[name] or 0) + 1
    if n <= 0 then return name, log end
    return next_state(step(n), log)
  end, function(s) next_state = s end
end
local a, set_a = state("a", function(n) return n - 1 end)
local b, set_b = state("b", function(n) return n - 0.5 end)
local c, set_c = state("c", function(n) return n // 1 end)
set_a(b) set_b(c) set_c(a)
for n = 1, 700, 100 do
  local name, log = a(n, {})
  print(n, name, log.a, log.b, log.c)
end
set_b(a)
print((a(301, {})))
