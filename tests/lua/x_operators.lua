-- Every operator with every pair of types in one loop whose types change: results, errors and their texts.
local values = { 3, -7, 2.5, -0.0, 0, 1 / 0, "10", "0x1p4", "abc", true, false, {}, print and "1e1", math.mininteger, 1e308, 64 }
local ops = {
  function(a, b) return a + b end, function(a, b) return a - b end, function(a, b) return a * b end, function(a, b) return a / b end,
  function(a, b) return a // b end, function(a, b) return a % b end, function(a, b) return a ^ b end, function(a, b) return a & b end,
  function(a, b) return a | b end, function(a, b) return a ~ b end, function(a, b) return a << b end, function(a, b) return a >> b end,
  function(a, b) return a .. b end, function(a, b) return a == b end, function(a, b) return a < b end, function(a, b) return a <= b end,
  function(a, b) return a > b end, function(a, b) return -a, ~b end, function(a, b) return #a end, function(a, b) return a and b end,
}
local function show(v)
  if v ~= v then return "nan" end
  if type(v) == "table" then return "table" end
  return math.type(v) == "float" and string.format("%.14g", v) .. "f" or tostring(v)
end
local digest, errors, lines = 7, {}, 0
for o, op in ipairs(ops) do
  local row = {}
  for i, a in ipairs(values) do
    for j, b in ipairs(values) do
      local ok, r = pcall(op, a, b)
      local text = ok and show(r) or "E"
      if not ok then r = r:gsub("^.-:%d+: ", ""); errors[r] = (errors[r] or 0) + 1 end
      for k = 1, #text do digest = (digest * 31 + text:byte(k)) % 1000000007 end
      if j == (i + o) % #values + 1 then row[#row + 1] = text end
    end
  end
  print(o, table.concat(row, " "))
end
print(digest)
local names = {}
for m in pairs(errors) do names[#names + 1] = m end
table.sort(names)
for _, m in ipairs(names) do print(errors[m], m) end
