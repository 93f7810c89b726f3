-- A grammar for sums, one for lists with captures, a substitution, and `re`, each many times.
local lpeg = require("lpeg")
local re = require("re")
local P, R, S, V, C, Ct, Cs, Cf, Cg = lpeg.P, lpeg.R, lpeg.S, lpeg.V, lpeg.C, lpeg.Ct, lpeg.Cs, lpeg.Cf, lpeg.Cg

local space = S(" \t") ^ 0
local number = C(P("-") ^ -1 * R("09") ^ 1) / tonumber * space
local function op(set) return C(S(set)) * space end
local function apply(a, o, b)
  if o == "+" then return a + b elseif o == "-" then return a - b elseif o == "*" then return a * b end
  return a // b
end
local sum = P({
  "sum",
  sum = Cf(V("product") * Cg(op("+-") * V("product")) ^ 0, apply),
  product = Cf(V("value") * Cg(op("*/") * V("value")) ^ 0, apply),
  value = number + "(" * space * V("sum") * ")" * space,
})
local total = 0
for i = 1, 3000 do
  local text = i .. " + " .. (i % 7) .. " * (3 - " .. (i % 5 + 1) .. ") / 2"
  total = total + sum:match(text)
end
print("sums", total)

local item = C((1 - S(",\n")) ^ 0)
local record = Ct(item * ("," * item) ^ 0) * -1
local fields, widest = 0, 0
for i = 1, 3000 do
  local list = record:match("a" .. i .. ",," .. string.rep("x", i % 13) .. ",end")
  fields = fields + #list
  if #list[3] > widest then widest = #list[3] end
end
print("fields", fields, widest)

local double = Cs((R("az") / "%0%0" + 1) ^ 0)
local length = 0
for i = 1, 2000 do length = length + #double:match("abc-" .. i .. "-xyz") end
print("doubled", length)

local words = re.compile("{| {%w+} (%s+ {%w+})* |}")
local count = 0
for i = 1, 2000 do
  local found = words:match("one two " .. i)
  for _, word in ipairs(found) do count = count + #word end
end
print("words", count)

-- Functions of Lua that the matcher calls, one of which fails at times.
local picky = lpeg.Cmt(C(R("09") ^ 1), function(_, at, digits)
  if digits == "1313" then error("unlucky " .. at) end
  return tonumber(digits) % 2 == 0, digits
end)
local even, failed, message = 0, 0, nil
for i = 1, 2000 do
  local fine, found = pcall(picky.match, picky, tostring(i))
  if not fine then failed, message = failed + 1, found elseif found then even = even + 1 end
end
print("even", even, failed, message)
print(lpeg.type(sum), lpeg.type(1), pcall(lpeg.match, P(1)))
