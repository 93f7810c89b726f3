-- every function that may be called as it is, with arguments drawn by a generator of its own, in a small hot loop each
local seed = tonumber(({ ... })[1]) or 11
local function draw(n)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return seed // 65536 % n + 1
end
local functions = {
  "next", "rawget", "rawset", "select", "tonumber", "tostring", "rawlen", "rawequal", "math.abs", "math.ceil", "math.floor",
  "math.fmod", "math.max", "math.min", "math.modf", "math.tointeger", "math.type", "math.ult", "string.byte", "string.char",
  "string.find", "string.format", "string.gsub", "string.len", "string.lower", "string.match", "string.pack",
  "string.packsize", "string.rep", "string.reverse", "string.sub", "string.unpack", "string.upper", "table.concat",
  "table.insert", "table.move", "table.pack", "table.remove", "table.sort", "table.unpack", "utf8.char", "utf8.codepoint",
  "utf8.len", "utf8.offset",
}
local atoms = {
  "i", "i", "-i", "i % 5", "i % 3 + 1", "1", "2", "0", "-1", "3.0", "2.5", "i / 2", "nil", "true", "i % 2 == 0", "'10'", "'abc'",
  "'a' .. i", "'%d'", "'%s|%s'", "'%a+'", "'b'", "'i4'", "s", "('x'):rep(50)", "''", "t", "t", "t", "u", "{ 3, 1, 2 }", "{ 'b', 'a' }",
  "{}", "1 << 62", "0 / 0",
}
local function show(v)
  local kind = type(v)
  if kind == "table" then
    local parts = {}
    for k = 1, math.min(#v, 40) do parts[k] = type(v[k]) == "table" and "T" or tostring(v[k]) end
    return "{" .. table.concat(parts, ",") .. "}"
  end
  if v ~= v then return "nan" end
  return kind == "string" and (v:gsub("0x%x+", "ADDR")) or tostring(v):gsub("0x%x+", "ADDR")
end
local template = [[
local show, t, u, s = ...
local f, n, text = %s, 0, ""
for i = 1, 24 do
  if i == 20 then %s end
  local a, b, c = f(%s)
  n = n + (a ~= nil and 1 or 0) + (b ~= nil and 2 or 0) + #t
  text = i %% 6 == 0 and text .. show(a) .. show(b) .. show(c) .. ";" or text
end
return n, text
]]
local changes = { "s = 5", "t = u", "t[2] = 'w'", "u = 'x'", "t = { 1, nil, 3 }", "s = nil", "t = setmetatable({ 4, 5 }, { __len = function() return 1 end })" }
local sum = 0
for round = 1, tonumber(({ ... })[2]) or 150 do
  local args = {}
  for k = 1, draw(4) do args[k] = atoms[draw(#atoms)] end
  local name = functions[draw(#functions)]
  local code = template:format(name, changes[draw(#changes)], table.concat(args, ", "))
  local t, u = { 5, 2, 9, 4, x = 1 }, { 7, 8, 9 }
  local ok, n, text = pcall(load(code, "=call"), show, t, u, "a,b c")
  if not ok then n = n:gsub("0x%x+", "ADDR") end
  print(round, name, table.concat(args, ", "), ok, n, text, show(t), show(u))
end
