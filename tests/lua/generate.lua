-- Writes a random program: lua generate.lua SEED
--
-- Problem: programs written by hand show the cases that somebody thought of.
-- Design: a small grammar of loops, tests, arithmetic, tables, upvalues and globals; integers and floats start at edge values.
-- Each seed switches features on and off (calls, objects, closures, strings, keys in variables, errors, coroutines), so that
-- some programs are full of one thing. Each function runs in a protected call, several times with other arguments, and the
-- program prints all that it changed. Statements stand on lines of their own and blocks are indented, for the reducer.
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
local captured = {}

local feature = {}
for _, name in ipairs { "calls", "objects", "closures", "strings", "keys", "errors", "coroutines", "collector", "records",
  "choices", "callbacks", "lists", "rare", "kept" } do
  feature[name] = random(2) == 1
end
local fresh = 0
local function new_name(prefix)
  fresh = fresh + 1
  return prefix .. fresh
end

local number

local int

local function int_atom()
  local k = random(10)
  if feature.calls and k == 10 then
    return pick { "g1(%s, %s)", "g2(%s, %s)", "g3(%s, %s)" }:format(pick(int_names), pick(integers))
  end
  if feature.strings and k == 9 then return pick { "#s1", "#s2", "#(s1 .. i1)" } end
  if k <= 4 then return pick(int_names) end
  if k <= 6 and #loop_names > 0 then return pick(loop_names) end
  if k == 7 then return "#t" end
  return pick(integers)
end

-- An expression that is an integer (never an error).
function int(depth)
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

local function call()
  return pick { "h1(%s, %s)", "h2(%s, %s)", "h3(%s, i1 & 7)", "h4(%s, i2 & 5)", "h5(%s, %s)", "h6(h1, %s)", "(h2(%s, %s))", "h8(%s)",
    "h9(i3, %s)", "select(2, h1(%s, %s))", "h10(%s, %s)" }:format(number(0), number(0))
end

local function object()
  return pick { "o:get(%s)", "p:get(%s)", "(o + %s)", "(%s + p)", "o:mix(p)", "p.x", "o.y", "o:put(%s).x", "#p", "o(%s)", "p.word", "p:twice()" }
    :format(number(0))
end

local function key() return pick { "key", "'x'", "'y'", "key2", "names[" .. int_atom() .. " & 3]" } end

local function text()
  return pick { "s1", "s2", "'a'", "''", "key", "'a longer text than forty bytes, so not interned'", "i1", "f1", "(s1 .. s2)", "v1 == nil and 'n' or v1", "-0.0" }
end

local function atom()
  local k = random(12)
  local f = random(6)
  if f == 1 and feature.calls then return call() end
  if f == 2 and feature.objects then return object() end
  if f == 3 and feature.closures then return pick { "(fs[1] and fs[1](%s) or 1)", "(fs[2] and fs[2](%s) or 1)" }:format(pick(int_names)) end
  if f == 4 and feature.keys then return ("(%s[%s] or %s)"):format(pick { "r", "q", "r", "t" }, key(), pick { "0", "1.5" }) end
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
  if k == 7 and feature.strings then return ("%s %s %s"):format(pick { "s1", "s2", "s1 .. s2" }, pick { "==", "~=", "<", "<=" }, pick { "s1", "s2", "'a'" }) end
  if k == 6 and feature.objects then return pick { "o == p", "o < p", "o <= p", "p ~= o", "o.gone", "p.flag" } end
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
  local is_captured = feature.closures and random(2) == 1
  if is_captured then
    captured[#captured + 1] = new_name("c")
    emit(("local %s = %s"):format(captured[#captured], pick { int(1), number(1) }))
  end
  block(depth - 1, random(4), label)
  if is_captured then captured[#captured] = nil end
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

-- Statements of the features; each may be asked when its feature is off and then says so.
local special = {}

function special.calls()
  emit(pick { "v1, v2, v3 = h1(%s, %s)", "i1, i2 = g3(i1, i2)", "v1, f1 = h2(%s, %s)", "v2 = (h4(%s, 3))", "h8(%s)", "v3, v1 = h5(%s)",
    "t = { h1(%s, %s) }", "w[1], w[2] = h10(%s, %s)", "v1 = h6(function(x) return x + i1 end, %s)", "h7(r, key)", "v2, v3 = h7(q, 'x')",
    "v1, v2 = v2, (h1(%s, %s))" }:format(number(0), number(1)))
end

function special.objects()
  emit(pick { "o:put(%s)", "p:put(%s)", "o, p = p, o", "setmetatable(o, pick_class(i1))", "o.flag = %s > 1", "p.x, p.y = p.y, p.x", "o.gone = nil",
    "p = setmetatable({ x = %s, y = 0 }, Derived)", "o = setmetatable({ x = i1, y = %s }, pick_class(i2))", "v1 = o:get(1) .. ''", "Derived.extra = i1", "setmetatable(o, Base)", "v2 = rawequal(o, p) and 1 or 2" }
    :format(number(1)))
end

function special.closures()
  local name = #captured > 0 and random(3) > 1 and captured[random(#captured)] or pick { "i1", "f1", "v1", "up1" }
  if #loop_names > 0 and random(3) == 1 then name = pick(loop_names) end
  emit(("fs[%d] = function(d)"):format(random(2)))
  indent = indent + 1
  emit(pick { "%s = %s + d", "%s = %s - 1", "i2 = %s; %s = d" }:format(name, name))
  emit(pick { "return %s", "return %s, d", "return %s * 2", "return (%s)" }:format(name))
  indent = indent - 1
  emit("end")
  if random(2) == 1 then emit(("v%d = fs[1] and fs[1](%s) or v%d"):format(random(3), int_atom(), random(3))) end
end

-- Closures that are mostly forgotten soon: called where they are, handed to a function, given back, kept now and then.
function special.callbacks()
  local name = #captured > 0 and random(3) > 1 and captured[random(#captured)] or pick { "i1", "i2", "f1", "v1" }
  if #loop_names > 0 and random(4) == 1 then name = pick(loop_names) end
  local text = pick { "each(w, function(x) if type(x) == 'number' then $ = x end end)",
    "v1, v2 = apply(function(x, y) $ = $ + 1 return x, y, $ end, @, 2)",
    "v2 = (function(a) return (function(b) $ = b return a end)(a) end)(@)",
    "do local c, d = counter(@), counter(1) v1 = c() + d() + c() end",
    "do local fn = function() $ = @ return $ end if i1 % 5 == 0 then fs[1] = fn end v1 = fn() end",
    "do local fn = function(x) return $, x end local gn = function() return fn($) end v1, v2 = gn() v3 = fn == gn end",
    "do local function rec(n) if n <= 0 then return $ end $ = n return rec(n - 1) end v3 = rec(i1 & 7) end",
    "do local function rec(n) if n <= 0 then return $, 1 end local a, b = rec(n - 1) return a, b + n end v1, v2 = rec(i2 & 7) end",
    "do local k <close> = setmetatable({}, { __close = function() $ = @ end }) v1 = $ end",
    "do local x = $ local get, set = function() return x end, function(y) x = y end set(@) v2 = get() x = 3 v3 = get() end",
    "do local list = {} for k = 1, 3 do local m = k list[k] = function() m = m + 1 return m + k end end v1 = list[1]() + list[3]() + list[1]() end",
    "v3 = debug.upvalueid(function() return $ end, 1) ~= nil" }
  emit((text:gsub("%$", name):gsub("@", function() return int_atom() end)))
end

-- Lists whose length is known only when they are made.
function special.lists()
  emit((pick { "t = { h5(@, i2, i3) }", "t = { i1, h4(@, 2) }", "v1 = select('#', h2(i1, @))", "v2 = #{ h4(@, i1 & 3) }",
    "t = { g3(@, i1) }", "v1, v2, v3 = pack(@, i1, nil)", "t = { nil, h2(i1, @) }", "t = { x = @, h5(i1, 2) }", "w[1], w[2] = pack(f1, @)",
    "t = { 1, 2, 3, table.unpack(w, 1, i2 & 3) }", "v3 = pack(table.unpack(t, 1, i1 & 7))" }:gsub("@", function() return int_atom() end)))
end

function special.strings()
  emit(pick { "s1 = s1 .. " .. text(), "s2 = " .. text() .. " .. " .. text() .. " .. s2", "s1 = " .. text() .. " .. ''", "s2 = s1", "s1, s2 = s2, s1", "s1 = s1 .. s1" })
  emit(pick { "if #s1 > 60 then s1 = 'cut' end", "s1 = s1:sub(-20)", "if #s1 > 45 then s1 = s2 end" })
  emit("if #s2 > 60 then s2 = '' end")
  emit("if #s1 > 200 then s1 = 'c' end")
end

function special.keys()
  emit(pick { "key, key2 = key2, key", "key = names[" .. int_atom() .. " & 3]", "r[" .. key() .. "] = " .. number(1), "q[" .. key() .. "] = " .. int(1), "r[" .. key() .. "] = nil",
    "key = " .. condition() .. " and 'x' or 'z'", "r[key], q[key2] = q[key], r[key2]", "key2 = 'k' .. (i1 & 3)" })
end

function special.records()
  emit(pick { "r = { x = %s, y = %s, z = 1 }", "q = { z = %s, x = r.x, y = 1 }", "r = { x = r.y, y = %s, of = { x = i1 } }", "w[3] = { %s, %s }", "v1 = ({ %s, %s })[2]",
    "w = { %s, 2.5, i1 }", "t[1], t[2] = ({ %s })[1], 0" }:format(number(1), number(0)))
end

function special.errors(depth)
  local ok, message = new_name("ok"), new_name("e")
  emit(("local %s, %s = pcall(function()"):format(ok, message))
  indent = indent + 1
  block(depth - 1, random(2), nil)
  emit(("if %s then error(%s) end"):format(condition(), pick { "'e' .. i1", "i1", "{ x = i2 }", "'plain', 0", "nil", "s1, 2" }))
  block(depth - 1, 1, nil)
  indent = indent - 1
  emit("end)")
  emit(("if not %s then v%d = i1; s2 = type(%s) == 'string' and %s or type(%s) end"):format(ok, random(3), message, message, message))
end

function special.coroutines(depth)
  local generator, index = new_name("co"), new_name("j")
  local rounds = 5 + random(12)
  emit(("local %s = coroutine.wrap(function(x)"):format(generator))
  indent = indent + 1
  emit(("for %s = 1, %d do"):format(index, rounds))
  indent = indent + 1
  loop_names[#loop_names + 1] = index
  block(depth - 1, random(2), nil)
  emit(("x = coroutine.yield(%s, x)"):format(number(1)))
  loop_names[#loop_names] = nil
  indent = indent - 1
  emit("end")
  emit("return nil")
  indent = indent - 1
  emit("end)")
  emit(("for %s = 1, %d do"):format(index, rounds + random(3) - 2))
  indent = indent + 1
  emit(("v1, v2 = %s(%s)"):format(generator, index))
  emit("if v1 == nil then break end")
  emit("v3 = v1")
  indent = indent - 1
  emit("end")
  emit("if inside then coroutine.yield(i1) end")
end

-- Tests over arms that compute numbers in locals, which are one with the test in a trace.
local function choice_arm()
  indent = indent + 1
  for _ = 1, random(2) do
    local name, other = pick(int_names), pick(int_names)
    local float = pick(float_names)
    emit(pick { "%s = %s + 1", "%s = %s - i1", "%s = %s * 3", "%s = -%s", "%s = %s & 255", "%s = %s ~ i2", "%s = ~%s", "%s = %s << 3",
      "%s = %s >> 1", "%s = %s // 4", "%s = %s %% 8", "%s = %s", "%s = 7", "%s = up1 + %s", "%s = %s %% 7", "%s = %s // -1" }:format(name, other))
    if random(3) == 1 then
      emit(pick { "%s = %s + 0.5", "%s = %s * i1", "%s = -%s", "%s = %s", "%s = -0.0", "%s = %s / 3", "%s = i2 - %s" }:format(float, pick(float_names)))
    end
  end
  indent = indent - 1
end

local function choice_test()
  local names, numbers = int_names, { "0", "i1", "100", "i3", "-1" }
  if random(3) == 1 then names, numbers = float_names, { "0", "f1", "0.5", "f2", "1e9" } end
  return ("%s %s %s"):format(pick(names), pick { "<", "<=", ">", ">=", "==", "~=" }, pick(numbers))
end

function special.choices(depth)
  local k = random(6)
  emit(("if %s%s then"):format(choice_test(), k == 1 and " and " .. choice_test() or k == 2 and " or " .. choice_test() or ""))
  choice_arm()
  if k == 3 and depth > 0 then
    indent = indent + 1
    special.choices(depth - 1)
    indent = indent - 1
  end
  if random(3) == 1 then
    emit(("elseif %s then"):format(choice_test()))
    choice_arm()
  end
  if random(3) > 1 then
    emit("else")
    choice_arm()
  end
  emit("end")
  if k == 4 then emit(("i3 = %s and %s or %s"):format(choice_test(), pick(int_names), pick(int_names))) end
end

-- Loops that are long enough for a tree to become one function, in which a place rarely has another type.
function special.rare()
  local name = new_name("n")
  local usual = { "2.5", "7", "true", "'x'", name, name .. " + 0.5", "{}", "nil" }
  local place, other = pick(places), pick(places)
  emit(("for %s = 1, %d do"):format(name, 300 + random(300)))
  indent = indent + 1
  emit(("%s = %s"):format(place, pick(usual)))
  if random(2) == 1 then emit(("%s = %s"):format(other, pick(usual))) end
  emit(("if %s %% %d == %d then %s = %s end"):format(name, 1 + random(20), random(2) - 1, pick { place, place, other }, pick(usual)))
  if random(3) == 1 then emit(("if %s %% 31 == 7 then v1 = %s end"):format(name, place)) end
  if random(3) == 1 then emit(("i2 = i2 + %s"):format(name)) end
  indent = indent - 1
  emit("end")
  emit(("v2, %s, %s = %s, 1, 2.5"):format(place, other, place))
end

-- Functions that keep closures over variables of several blocks, and forget others over the same ones.
local function kept_block(level, most, names)
  local name = new_name("m")
  emit(pick { "do", "do", "for c = 1, 1 do", "if b ~= a then" })
  indent = indent + 1
  emit(("local %s = %s + %d"):format(name, pick(names), level))
  names[#names + 1] = name
  local function some() return pick(names) end
  local kept = "kept[%d] = function(d) %s = %s + d return %s, %s end"
  local forgotten = { "apply(function() return %s, %s end)", "i3 = apply(function(d) %s = %s + d return d end, 2)",
    "local function f() return %s end i3 = f() + %s" }
  for _ = 1, random(2) do
    if random(2) == 1 then
      local changed = some()
      emit(kept:format(random(4), changed, changed, some(), some()))
    else
      local changed = some()
      emit((pick(forgotten):format(changed, changed)))
    end
  end
  if level < most then kept_block(level + 1, most, names) end
  names[#names] = nil
  if random(2) == 1 then emit((pick(forgotten):format(pick(names), pick(names)))) end
  indent = indent - 1
  emit("end")
end

function special.kept()
  local name, n = new_name("k"), new_name("n")
  emit("do")
  indent = indent + 1
  emit("local kept = {}")
  emit(("local function %s(a, b)"):format(name))
  indent = indent + 1
  kept_block(1, random(3), { "a", "b" })
  if random(3) == 1 then kept_block(1, 1, { "b", "a" }) end
  emit(pick { "return a", "return b", "return g3(a, b)", "return (g3(a, b))" })
  indent = indent - 1
  emit("end")
  emit(("for %s = 1, %d do"):format(n, 100 + random(300)))
  emit(("  i2 = i2 + %s(%s, %s)"):format(name, n, int_atom()))
  if random(2) == 1 then emit(("  if %s %% 31 == 7 and kept[1] then v1 = kept[1](%s) end"):format(n, n)) end
  emit("end")
  emit("h10(i1, h4(1, 3))")
  emit("for k, f in pairs(kept) do kept[k] = nil v2 = f(k) v3, v1 = f(1) end")
  indent = indent - 1
  emit("end")
end

function special.collector() emit(pick { "collectgarbage('step')", "if i1 % 7 == 0 then collectgarbage() end" }) end

local special_names = { "calls", "objects", "closures", "strings", "keys", "records", "calls", "objects", "keys", "errors", "coroutines", "collector",
  "choices", "choices", "rare", "kept" }

local function statement(depth, label)
  local k = random(14)
  local name = pick(special_names)
  local is_block = name == "errors" or name == "coroutines"
  if feature[name] and random(2) == 1 and (not is_block or depth > 1) then
    if is_block then
      emit("do")
      indent = indent + 1
    end
    special[name](depth)
    if is_block then
      indent = indent - 1
      emit("end")
    end
    return
  end
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
emit("local inside = false")
emit("local names = { [0] = 'x', 'y', 'z', 'w' }")
emit(("local function g1(a, b) return a %s b end"):format(pick { "+", "-", "*", "&", "~" }))
emit(("local function g2(a, b) if a < b then return a %s 1 end return b end"):format(pick { "+", "|", "-" }))
emit("local function g3(a, b) return b, a end")
emit(("local function h1(a, b) return a %s b, a %s b end"):format(pick { "+", "*", "-" }, pick { "/", "-", "//" }))
emit("local function h2(a, b) if a < b then return a, b end return b, a, a end")
emit("local function h3(a, n) if n <= 0 then return a end return h3(a + n, n - 1) end")
emit(("local function h4(a, n) if n <= 0 then return a, n end local x, y = h4(a, n - 1) return x %s 1, y end"):format(pick { "+", "-" }))
emit("local function h5(...) local a, b = ... return select('#', ...), b, a end")
emit("local function h6(f, x) return f(x, 2), x end")
emit("local function h7(r, k) local v = r[k] r[k] = (v or 0) + 1 return v end")
emit("local function h8(a) up1 = up1 + a return up1 end")
emit("local function h9(a, b) local s = 0 for i = 1, a & 7 do s = s + b end return s end")
emit("local function each(list, f) for i = 1, #list do f(list[i], i) end end")
emit("local function apply(f, ...) return f(...) end")
emit("local function counter(n) return function() n = n + 1 return n end end")
emit("local function pack(...) local p = { ... } return #p > 3 and #p or select('#', ...), (select(2, ...)), ... end")
emit("local function h10(a, b) local r = { x = a, y = b } local u = { x = r.y, y = r.x } return r.x + u.x, u end")
emit([[
local Base = {}
Base.__index = Base
function Base:get(d) return self.x + d end
function Base:put(v) self.x = v return self end
function Base:mix(o) self.x, o.x = o.x, self.x return self.y end
function Base:twice() return self:get(self.x) end
Base.__add = function(a, b) return (type(a) == 'table' and a.x or a) + (type(b) == 'table' and b.x or b) end
Base.__lt = function(a, b) return a.x < b.x end
Base.__le = function(a, b) return a.x <= b.x end
Base.__eq = function(a, b) return a.x == b.x end
Base.__call = function(o, d) return o.y - d end
local Derived = {}
for k, v in pairs(Base) do Derived[k] = v end
Derived.__index = function(o, k) local v = Derived[k] if v == nil then return Base[k] or #k end return v end
function Derived:get(d) return Base.get(self, d) * 2 end
local function pick_class(n) return n % 2 == 0 and Base or Derived end]])
for f = 1, 3 do
  emit(("local function work%d(i1, f1, v1, t, w, r, q, o, p)"):format(f))
  indent = indent + 1
  emit("local i2, i3, f2, v2, v3 = 1, 2, 0.5, i1, f1")
  emit("local flag, name = true, 'n'")
  emit("local s1, s2, key, key2, fs = 'a', '', 'x', 'y', {}")
  loop_names, captured = {}, {}
  for _ = 1, 2 + random(2) do
    statement(1, nil)
    pick { for_loop, for_loop, while_loop, repeat_loop }(3)
  end
  emit("return i1, i2, i3, f1, f2, v1, v2, v3, flag, name, s1, s2, key, key2, o.x, o.y, p.x, p.y, r.x, q.x")
  indent = indent - 1
  emit("end")
end
emit([[
local function show(v)
  if math.type(v) == "float" then return v ~= v and "nan" or string.format("%.17g", v) .. "f" end
  return (type(v) == "table" or type(v) == "function") and type(v) or tostring(v)
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
emit("    local o, p = setmetatable({ x = round, y = 2.5 }, Base), setmetatable({ x = 0.5, y = 3 }, Derived)")
emit("    local function run() return pcall(work, round == 2 and -3 or round * 5, round == 3 and 4 or 0.25, round, t, w, r, q, o, p) end")
emit("    inside = round == 2")
emit("    if inside then")
emit("      local co = coroutine.create(run)")
emit("      local count, results = 0, table.pack(coroutine.resume(co))")
emit("      while coroutine.status(co) ~= 'dead' do count = count + 1; results = table.pack(coroutine.resume(co)) end")
emit("      print(number, count, show_all(table.unpack(results, 1, results.n)))")
emit("    else")
emit("      print(number, show_all(run()))")
emit("    end")
emit("    inside = false")
emit("    print(show_all(o.x, o.y, p.x, p.y, r.w, q.w, Derived.extra))")
emit("    print(array(t))")
emit("    print(array(w))")
emit("    print(show_all(r.x, r.y, r.z, q.x, q.y, q.z, up1, up2, glob1, glob2))")
emit("  end")
emit("end")
print(table.concat(out, "\n"))
