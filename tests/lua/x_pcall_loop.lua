-- Errors raised and caught inside hot loops: every kind of operand, error values of every type, nested, handlers, rethrown.
local function try(f, ...) local r = table.pack(pcall(f, ...)) return r[1], r[2] end
local bad = {
  function(x) return x.a.b end, function(x) return x + {} end, function(x) return #x end, function(x) return x() end,
  function(x) return x .. nil end, function(x) return x < {} end, function(x) return {} < {} end, function(x) return -{} end,
  function(x) return 1 // (x - x) end, function(x) return x % 0 end, function(x) return x & 1.5 end, function(x) return 1 << "z" end,
  function(x) x.y.z = 1 end, function(x) local t = {} t[nil] = x end, function(x) local t = {} t[0 / 0] = x end,
  function(x) return ("x"):nope() end, function(x) return math.maxinteger < x, x | 2.5 end, function(x) for i = x, "a" do end end,
  function(x) error() end, function(x) error(x) end, function(x) error("plain", 0) end, function(x) error({ code = x }) end,
  function(x) error("level two", 2) end, function(x) error(nil) end, function(x) return setmetatable(1, {}) end,
  function(x) return undefined_global.field end, function(x) undefined_function(x) end, function(x) string.rep() end,
}
local texts = {}
for i = 1, #bad * 4 do
  local ok, e = try(bad[(i - 1) % #bad + 1], 5)
  texts[i] = type(e) == "table" and "code " .. e.code or tostring(e)
  if ok then texts[i] = "fine " .. texts[i] end
end
for i = 1, #bad do
  if texts[i] ~= texts[i + #bad] or texts[i] ~= texts[i + 3 * #bad] then print("changed", texts[i], texts[i + 3 * #bad]) end
  print(texts[i])
end
-- The error comes from the middle of a loop: the variables have the values of that moment.
local a, b, t = 0, 0.5, {}
for round = 1, 20 do
  pcall(function()
    for i = 1, 60 do
      a = a + 1; t[i] = (t[i] or 0) + round
      if i == round * 3 then b = b * 2; local _ = b.x.y end
      b = b + 1
    end
  end)
end
print(a, b, t[1], t[30], t[60])
local depth, caught = 0, 0
local function nest(n)
  if n == 0 then error("bottom") end
  depth = depth + 1
  local ok, e = pcall(nest, n - 1)
  caught = caught + 1
  if n % 2 == 0 then error(e, 0) end
end
for i = 1, 60 do pcall(nest, i % 6 + 1) end
print(depth, caught)
local handled = 0
for i = 1, 60 do
  local ok, e = xpcall(function(x) if x % 3 == 0 then return x .. nil end return x end,
    function(m) handled = handled + 1; return "h:" .. #m end, i)
  if not ok and i == 60 then print(ok, e) end
end
print(handled)
print(xpcall(function() local s = 0 for i = 1, 90 do s = s + (i == 80 and {} or i) end end, function(m) return m:upper() end))
print(select("#", pcall(error)), pcall(error, nil), pcall(error, setmetatable({}, { __tostring = function() return "custom" end })) == false)
local sums = 0
for i = 1, 100 do
  local ok, v = pcall(function(x) if x == 77 then error(x) end return x * 2 end, i)
  sums = sums + v + (ok and 0 or 100000)
end
print(sums)
