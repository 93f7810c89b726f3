-- Metamethods of every kind, written in Lua.
local Vector = {}
Vector.__index = Vector
local function vector(x, y) return setmetatable({ x = x, y = y }, Vector) end
function Vector.__add(a, b) return vector(a.x + b.x, a.y + b.y) end
function Vector.__sub(a, b) return vector(a.x - b.x, a.y - b.y) end
function Vector.__mul(a, b)
  if type(a) == "number" then return vector(a * b.x, a * b.y) end
  if type(b) == "number" then return vector(a.x * b, a.y * b) end
  return a.x * b.x + a.y * b.y
end
function Vector.__unm(a) return vector(-a.x, -a.y) end
function Vector.__eq(a, b) return a.x == b.x and a.y == b.y end
function Vector.__lt(a, b) return a * a < b * b end
function Vector.__le(a, b) return a * a <= b * b end
function Vector.__len(a) return a.x + a.y end
function Vector.__concat(a, b) return tostring(a) .. "|" .. tostring(b) end
function Vector.__tostring(a) return "(" .. a.x .. " " .. a.y .. ")" end
function Vector.__call(self, k, ...) return self.x * k, select("#", ...) end
function Vector.__idiv(a, b) return a.x // b end
function Vector.__mod(a, b) return a.x % b end
function Vector.__band(a, b) return (type(a) == "table" and a.x or a) & (type(b) == "table" and b.x or b) end
function Vector.__shl(a, b) return a.x << b end
function Vector.__bnot(a) return ~a.x end
function Vector.__pow(a, b) return a.x ^ b end
function Vector.__div(a, b) return a.x / b end
local sum = vector(0, 0)
local flags, number = 0, 0
for i = 1, 60 do
  local v = vector(i, i % 7)
  sum = sum + v * 2 - 3 * vector(1, 1) + -v
  if v < sum then flags = flags + 1 end
  if v <= sum then flags = flags + 10 end
  if v == vector(i, i % 7) then flags = flags + 100 end
  if v ~= sum then flags = flags + 1000 end
  number = number + #v + v(2, nil, nil) + v // 3 + v % 4 + (v & 6) + (5 & v) + (v << 2) + ~v + v ^ 2 + v / 2
end
print(tostring(sum), flags, number, sum .. sum, sum .. "x", 1 .. sum)
local log = {}
local proxy = setmetatable({}, {
  __index = function(_, key) log[#log + 1] = "get " .. tostring(key); return key end,
  __newindex = function(t, key, value) log[#log + 1] = "set " .. tostring(key); if key == "keep" then rawset(t, key, value) end end,
})
for i = 1, 10 do
  proxy[i] = proxy[i + 1]
  proxy.field = proxy.other
  proxy.keep = i
  proxy[i .. ""] = i
end
print(#log, table.concat(log, ";", 1, 30), proxy.keep)
local base = { greet = function(self, n) return self.name .. n end, name = "base" }
local chain = base
for i = 1, 8 do chain = setmetatable({ ["level" .. i] = i }, { __index = chain }) end
local text = ""
for i = 1, 12 do
  if i == 6 then chain.name = "derived" end
  text = text .. chain:greet(i) .. (chain["level" .. i] or "-")
end
print(text)
local ok, message = pcall(function() return vector(1, 2) .. nil .. {} end)
print(ok, (pcall(function() return {} < {} end)), (pcall(function() return vector(1, 2) < 1 end)))
for key, value in pairs(setmetatable({}, { __pairs = function() return next, { 11, 22 }, nil end })) do print(key, value) end
