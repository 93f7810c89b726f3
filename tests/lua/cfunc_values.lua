-- functions of the base library, 'math', 'utf8' and 'os' that are called as they are
local N = 80
local n = 0

-- tonumber: decimal, hexadecimal, floats, bases, none
for i = 1, N do n = n + tonumber("12") + tonumber(" 0x1F ") + tonumber("zz", 36) + tonumber("1e2") end
print(n)
for i = 1, N do n = n + (tonumber(i .. "") or 0) + (tonumber("8", 8) and 1 or 2) end
print(n)
for i = 1, N do if not tonumber("x" .. i) and not tonumber("") and not tonumber("1 2") then n = n + 1 end end
print(n)
for i = 1, N do n = n + math.tointeger("7") + math.floor("3.7") + math.max(10, i) end
print(n)

-- tostring of objects: the same text each time, and another one for another object
local object, names = {}, {}
local text = tostring(object)
for i = 1, N do
  local fresh = {}
  if tostring(object) == text and tostring(fresh) ~= text and tostring(fresh) == tostring(fresh) then n = n + 1 end
  if tostring(print):find("^builtin") or tostring(print):find("^function") then n = n + 1 end
  if tostring(names):find("^table: ") then n = n + 1 end
end
print(n)
local plain = setmetatable({}, { __index = names })
for i = 1, N do if tostring(plain):find("^table: ") then n = n + 1 end end
print(n)
local named, printed = setmetatable({}, { __name = "Name" }), setmetatable({}, { __tostring = function() return "T" end })
for i = 1, N do
  if tostring(named):find("^Name: ") then n = n + 1 end
  if tostring(printed) == "T" then n = n + 1 end
end
print(n)
local late = setmetatable({}, {})  -- gets the field while the loop runs
for i = 1, N do
  if i == 60 then getmetatable(late).__tostring = function() return "late" end end
  if tostring(late) == "late" then n = n + 10 end
end
print(n)
-- types of values get metatables
for i = 1, N do
  if i == 50 then debug.setmetatable(nil, { __tostring = function() return "N" end }) end
  n = n + #string.format("%s%s", i, nil)
  if i == 60 then debug.setmetatable(nil, nil) end
end
print(n)

-- utf8
local u = 0
for p, code in utf8.codes(("h\u{e4}\u{20ac}\u{10000}"):rep(20)) do u = (u * 7 + p + code) % 1000003 end
print(u)
for p, code in utf8.codes(("a\u{7fffffff}"):rep(20), true) do u = (u * 7 + p + code) % 1000003 end
print(u)
for i = 1, N do
  u = u + #utf8.char(i, 0x20ac, 0x10000 + i) + utf8.codepoint("\u{20ac}") + utf8.len("\u{e4}\u{f6}\u{fc}") + utf8.offset("\u{e4}\u{f6}", 2)
end
print(u)
for i = 1, N do  -- nil and a position
  local length, at = utf8.len("ab\xff")
  u = u + (length or 100) + at
end
print(u)

-- os: only what can be told
for i = 1, N do
  if os.clock() >= 0 and os.time() > 0 and os.date("%%") == "%" and os.difftime(5, 3) == 2.0 then u = u + 1 end
  if os.getenv("TRACELIFT_NO_SUCH_NAME") == nil then u = u + 1 end
  u = u + os.date("!*t", 86400 * i).day
end
print(u)

-- next, pairs and ipairs as calls, rawget, select, getmetatable
local t, empty = { x = 1 }, {}
for i = 1, N do
  local k, v = next(t)
  n = n + #k + v
  if not next(empty) then n = n + 1 end
  if next(t, k) == nil then n = n + 1 end
  local f, state, start = pairs(t)
  if f == next and state == t and start == nil then n = n + 1 end
  local _, list, zero = ipairs(t)
  if list == t then n = n + zero end
  n = n + (rawget(t, 1.5) and 1 or 2) + select(-1, 1, i) + select("2", 5, 6)
  if getmetatable(print) == nil and getmetatable("").__index == string then n = n + 1 end
end
print(n)
local with = setmetatable({}, { __pairs = function() return function(_, k) if not k then return 1, 2 end end end })
for i = 1, N do for k, v in pairs(with) do n = n + k + v end end
print(n)
local mixed = { 10, 20, 30, a = 1, b = 2, [1.5] = 3 }
for i = 1, N do
  local k, v = nil, nil
  repeat
    k, v = next(mixed, k)
    if k then n = n + v end
  until not k
end
print(n)
