-- Writes a random program: lua generate.lua SEED
--
-- Problem: programs written by hand show the cases that somebody thought of.
-- Design: a small grammar of loops, tests, arithmetic, tables, upvalues and globals; integers and floats start at edge values.
-- Each function runs in a protected call, several times with other arguments, and the program prints all that it changed.
-- Invariant: the same seed gives the same program, which ends, prints no address, and never reads the clock.
-- Example: "lua generate.lua 7 > p.lua; lua p.lua".
local seed = tonumber((...)) or 1
local state = seed * 2654435761 % 2 ^ 32 | 0
local function random(n)  -- 1..n
  state = state ~ (state << 13) & 0xffffffff
  state = state ~ (state >> 17)
  state = state ~ (state << 5) & 0xffffffff
  return state % n + 1
end
for _ = 1, 10 do random(2) end
local function pick(list) return list[random(#list)] end

local out, indent = {}, 0
local function emit(text) out[#out + 1] = ("  "):rep(indent) .. text end

local integers = { "0", "1", "2", "-1", "3", "7", "-5", "10", "63", "64", "255", "1000003", "math.maxinteger",
  "math.mininteger", "(1 << 53)", "((1 << 53) + 1)" }
local floats = { "0.0", "-0.0", "1.0", "0.5", "-2.5", "3.75", "1e15", "2.0^53", "1e308", "-1e-3", "1/0", "-1/0", "2.0", "7.0" }
local int_names = { "i1", "i2", "i3" }
local float_names = { "f1", "f2" }
local any_names = { "v1", "v2", "v3" }
local places = { "r.x", "r.y", "q.x", "q.z", "up1", "up2", "glob1", "glob2" }
local loop_names = {}

local number

local function int_atom()
  local k = random(10)
  if k <= 4 then return pick(int_names) end
  if k <= 6 and #loop_names > 0 then return pick(loop_names) end
  if k == 7 then return "#t" end
  return pick(integers)
end

-- An expression that is an integer (never an error).
local function int(depth)
  if depth == 0 then return int_atom() end
  local k = random(12)
  if k <= 6 then return ("(%s %s %s)"):format(int(depth - 1), pick { "+", "-", "*", "&", "|", "~", "+", "-" }, int(depth - 1)) end
  if k <= 8 then return ("(%s %s %s)"):format(int(depth - 1), pick { "//", "%" }, pick { "3", "7", "-4", "64", "(" .. int_atom() .. " | 1)" }) end
  if k == 9 then return ("(%s %s %s)"):format(int(depth - 1), pick { "<<", ">>" }, pick { "1", "3", "-2", "63", "64", "(" .. int_atom() .. " & 127)", int_atom() }) end
  if k == 10 then return pick { "(- %s)", "(~ %s)" }:format(int(depth - 1)) end
  return int_atom()
end

local function index()
  if #loop_names > 0 and random(3) > 1 then return pick { "%s", "%s + 1", "%s - 1", "(%s & 15) + 1", "%s + 0.0" }:format(pick(loop_names)) end
  return pick { "(" .. int_atom() .. " & 15) + 1", tostring(random(12)), "(" .. int_atom() .. " % 9)", "(" .. int_atom() .. " & 7) + 1.0" }
end

local function element()
  local t = pick { "t", "w" }
  local e = ("%s[%s]"):format(t, index())
  return random(8) == 1 and e or ("(%s or %s)"):format(e, pick { "0", "1.5", "2" })
end

local function atom()
  local k = random(12)
  if k <= 3 then return pick(float_names) end
  if k <= 5 then return pick(any_names) end
  if k <= 7 then return element() end
  if k <= 9 then return pick(places) end
  if k == 10 then return pick(floats) end
  return int(1)
end

-- An expression that is a number, unless a variable was given something else.
function number(depth)
  if depth == 0 then return atom() end
  local k = random(12)
  if k <= 7 then return ("(%s %s %s)"):format(number(depth - 1), pick { "+", "-", "*", "/", "+", "-", "*" }, number(depth - 1)) end
  if k == 8 then return ("(%s %s %s)"):format(number(depth - 1), pick { "//", "%" }, pick { "3.5", "2", "-0.75", number(0) }) end
  if k == 9 then return ("(%s ^ %s)"):format(number(depth - 1), pick { "2", "3", "0.5", "-1", "2.0" }) end
  if k == 10 then return ("(- %s)"):format(number(depth - 1)) end
  if k == 11 then return int(depth) end
  return atom()
end

local function condition()
  local k = random(10)
  if k <= 3 then return ("%s %s %s"):format(int(1), pick { "<", "<=", ">", ">=", "==", "~=" }, int(1)) end
  if k <= 6 then return ("%s %s %s"):format(number(1), pick { "<", "<=", ">", ">=", "==", "~=" }, number(1)) end
  if k == 7 then return ("%s %% %d == 0"):format(#loop_names > 0 and pick(loop_names) or "i1", random(5)) end
  if k == 8 then return pick { "flag", "not flag", "t[" .. index() .. "]", "w[" .. index() .. "] == nil", "name == 'n'", "r == q", "flag == false" } end
  if k == 9 then return ("%s %s %s"):format(number(0), pick { "<", ">", "==", ">=" }, pick { "0", "5", "100", "-3", "1.5" }) end
  return ("(%s) %s (%s)"):format(condition and "flag" or "", pick { "and", "or" }, ("%s < %s"):format(int(1), int(1)))
end

local block
local labels = 0

local function loop_body(depth, name)
  indent = indent + 1
  if name then loop_names[#loop_names + 1] = name end
  labels = labels + 1
  local label = "continue" .. labels
  emit("budget = budget - 1 if budget < 0 then error('budget') end")
  block(depth - 1, random(4), label)
  if name then loop_names[#loop_names] = nil end
  return label
end

local function close_body(label)
  emit("::" .. label .. "::")
  indent = indent - 1
end

local function for_loop(depth)
  local name = "k" .. depth
  local k = random(8)
  local range = k == 1 and "math.maxinteger - 9, math.maxinteger" or k == 2 and "30, 1, -2" or k == 3 and "0.5, 9, 0.75"
    or k == 4 and "12, -3, -1.0" or k == 5 and ("1, (%s & 31)"):format(int_atom()) or k == 6 and "1, #t" or "1, " .. 5 + random(30)
  emit(("for %s = %s do"):format(name, range))
  local is_int = k ~= 3 and k ~= 4
  close_body(loop_body(depth, is_int and name or nil))
  emit("end")
end

local function while_loop(depth)
  local name = "n" .. depth
  emit(("local %s = %s"):format(name, pick { "0", "0", "0.0", "3" }))
  emit(("while %s < %d and (%s or %s < 20) do"):format(name, 8 + random(25), condition(), name))
  indent = indent + 1
  emit(("%s = %s + 1"):format(name, name))
  indent = indent - 1
  close_body(loop_body(depth))
  emit("end")
end

local function repeat_loop(depth)
  local name = "m" .. depth
  emit(("local %s = 0"):format(name))
  emit("repeat")
  indent = indent + 1
  emit(("%s = %s + 1"):format(name, name))
  emit("do")
  close_body(loop_body(depth))
  emit("end")
  indent = indent - 1
  emit(("until %s > %d or (%s > 3 and %s)"):format(name, 5 + random(20), name, condition()))
end

local function assignment()
  local k = random(16)
  if k <= 4 then emit(("%s = %s"):format(pick(int_names), int(2)))
  elseif k <= 7 then emit(("%s = %s"):format(pick(float_names), number(2)))
  elseif k <= 9 then emit(("%s = %s"):format(pick(any_names), number(1)))
  elseif k == 10 then emit(("%s = %s"):format(pick(places), number(1)))
  elseif k == 11 then emit(("%s = %s"):format(pick(places), int(1)))
  elseif k <= 13 then emit(("%s[%s] = %s"):format(pick { "t", "w" }, index(), pick { number(1), int(1), int(1), "nil" }))
  elseif k == 14 then emit(("v%d, v%d = v%d, v%d"):format(random(3), random(3), random(3), random(3)))
  elseif k == 15 then emit(pick { "flag = not flag", "flag = " .. condition(), "name = flag and 'n' or 'm'", "r, q = q, r", "t[#t + 1] = i1", "t[#t] = nil" })
  else emit(("v%d = %s and %s or %s"):format(random(3), condition(), number(1), number(1))) end
end

local function statement(depth, label)
  local k = random(14)
  if k <= 8 or depth == 0 then
    assignment()
  elseif k <= 10 then
    emit(("if %s then"):format(condition()))
    indent = indent + 1
    block(depth - 1, random(2), label)
    indent = indent - 1
    if random(2) == 1 then
      emit("else")
      indent = indent + 1
      block(depth - 1, random(2), label)
      indent = indent - 1
    end
    emit("end")
  elseif k == 11 and label then
    emit(("if %s then %s end"):format(condition(), pick { "goto " .. label, "break" }))
  elseif k == 12 then while_loop(depth)
  elseif k == 13 and depth > 1 then repeat_loop(depth)
  else for_loop(depth) end
end

function block(depth, count, label)
  emit("do")
  indent = indent + 1
  for _ = 1, count do statement(depth, label) end
  indent = indent - 1
  emit("end")
end

emit("local budget = 0")
emit("local up1, up2 = 1, 0.5")
emit("glob1, glob2 = 2, 2.5")
for f = 1, 3 do
  emit(("local function work%d(i1, f1, v1, t, w, r, q)"):format(f))
  indent = indent + 1
  emit("local i2, i3, f2, v2, v3 = 1, 2, 0.5, i1, f1")
  emit("local flag, name = true, 'n'")
  loop_names = {}
  for _ = 1, 2 + random(2) do
    statement(1, nil)
    pick { for_loop, for_loop, while_loop, repeat_loop }(3)
  end
  emit("return i1, i2, i3, f1, f2, v1, v2, v3, flag, name")
  indent = indent - 1
  emit("end")
end
emit([[
local function show(v)
  if math.type(v) == "float" then return v ~= v and "nan" or string.format("%.17g", v) .. "f" end
  return type(v) == "table" and "table" or tostring(v)
end
local function show_all(...)
  local texts = table.pack(...)
  for i = 1, texts.n do texts[i] = show(texts[i]) end
  return table.concat(texts, " ")
end
local function array(t)
  local texts = {}
  for i = 0, 40 do texts[#texts + 1] = show(rawget(t, i)) end
  return table.concat(texts, " ")
end]])
emit("for round = 1, 4 do")
emit("  for number, work in ipairs { work1, work2, work3 } do")
emit("    local t, w = {}, { 1, 2.5, nil, 4 }")
emit("    for i = 1, 12 do t[i] = round == 3 and i / 2 or i * round end")
emit("    local r, q = { x = 1, y = 2.5, z = 0 }, { z = 3, x = round == 2 and 1 or 1.5, y = 1 }")
emit("    if round == 4 then setmetatable(w, { __index = function(_, k) return k end, __newindex = function(s, k, v) rawset(s, k, v) end }) end")
emit(("    budget = %d"):format(3000))
emit("    print(number, show_all(pcall(work, round == 2 and -3 or round * 5, round == 3 and 4 or 0.25, round, t, w, r, q)))")
emit("    print(array(t))")
emit("    print(array(w))")
emit("    print(show_all(r.x, r.y, r.z, q.x, q.y, q.z, up1, up2, glob1, glob2))")
emit("  end")
emit("end")
print(table.concat(out, "\n"))
