-- Errors that a library function raises in a loop that is compiled already: what it says must not change. Each expression
-- has a loop of its own, which is compiled for it.
local template = [[
local good, bad, at = ...
local count, nils = 0, 0
local ok, message = pcall(function ()
  for i = 1, at + 10 do
    local x = good
    if i == at then x = bad end
    local r = %s
    count = i
    if r == nil then nils = nils + 1 end
  end
end)
print(ok, message, count, nils)
]]
local function try (expression, good, ...)
  local loop = assert(load(template:format(expression), "=loop"))
  for n = 1, select("#", ...) do
    print(expression, good)
    loop(good, (select(n, ...)), 80)
  end
end

for _, name in ipairs { "floor", "ceil", "abs", "sqrt", "sin", "exp", "log", "tointeger", "type", "deg", "modf", "atan" } do
  try("math." .. name .. "(x)", 2.5, nil, {}, "3", "x")
  try("math." .. name .. "(x)", 2, 2.5, "0x10")
end
try("math.max(1, x)", 2, nil, "2", 0 / 0)
try("math.max(x, 1)", 2.0, false, 1)
try("math.min('b', x)", "c", "a", 1)
try("math.fmod(7, x)", 2, 0, 0.0, -1)
try("math.fmod(x, 7)", 2.5, {}, 3)
try("math.ult(7, x)", 2, 2.5, "a", 9.0)
try("math.ult(x, 7)", 2.0, 2.5, 2^63, 9)
math.randomseed(11)
try("math.random(x) > 0 or nil", 20, -1, 0, 1.5, 2.0, "7")
try("math.random(3, x) > 0 or nil", 20, 2, 3, nil)
try("math.random(x, 2, 3)", 1, 2)
print(math.random(1 << 40))
try("x and math.floor(x) or math.floor()", 1.5, nil)
try("math.type(x or nil)", 1.5, false)
-- called by its field, so that the message names it otherwise
print(pcall(function () for i = 1, 150 do local x = i < 150 and i + 0.5 or nil; math.floor(x) end end))
print(pcall(function () for i = 1, 150 do local x = i < 150 and i + 0.5 or "y"; local y = math.max(x, 1) .. math.ceil(x) end end))
