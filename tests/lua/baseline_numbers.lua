-- Arithmetic and comparisons of integers with floats, of strings, and counted loops of all steps: what
-- baseline code does itself, at the edges of what it does.
local values = { 0, 1, -1, 7, 2 ^ 31, 2 ^ 53, -(2 ^ 53), 2 ^ 53 + 2, 1 << 53, (1 << 53) + 1, -(1 << 53) - 1,
  math.maxinteger, math.mininteger, math.maxinteger + 0.0, math.mininteger + 0.0, 0.0, -0.0, 0.5, -2.5, 1e300,
  math.huge, -math.huge, 0 / 0 }
local function text(v)
  if v ~= v then return "nan" end
  return math.type(v) == "integer" and ("%d"):format(v) or ("%a"):format(v)
end
local operations = {
  function(a, b) return a + b end, function(a, b) return a - b end, function(a, b) return a * b end,
  function(a, b) return a / b end, function(a) return a + 3 end, function(a) return a - 3 end,
  function(a) return a * 3 end, function(a) return a / 4 end, function(a) return a / 0.25 end,
  function(a) return a * 0.5 end, function(a) return 2 * a end, function(a) return 3 - a end,
  function(a) return -a end,
}
local comparisons = {
  function(a, b) return a < b end, function(a, b) return a <= b end, function(a, b) return a > b end,
  function(a, b) return a >= b end, function(a, b) return a == b end,
  function(a, b) if not (a < b) then return "no" end return "yes" end,
  function(a, b) if a <= b then return "yes" end return "no" end,
  function(a) return a < 1 end, function(a) return a >= 0 end,
}
local lines = {}
for round = 1, 3 do
  for k, f in ipairs(operations) do
    local sum = {}
    for i, a in ipairs(values) do
      for j, b in ipairs(values) do sum[#sum + 1] = text(f(a, b)) end
    end
    lines[k] = table.concat(sum, " ")
  end
  for k, f in ipairs(comparisons) do
    local sum = {}
    for _, a in ipairs(values) do
      for _, b in ipairs(values) do sum[#sum + 1] = tostring(f(a, b)):sub(1, 1) end
    end
    lines[#operations + k] = table.concat(sum)
  end
end
-- all of it is too long to print: a sum of the bytes, and the start
for _, line in ipairs(lines) do
  local sum = 0
  for i = 1, #line do sum = (sum * 31 + line:byte(i)) % 1000000007 end
  print(#line, sum, line:sub(1, 60))
end

-- zeros and their signs
for _, z in ipairs({ 0.0, -0.0 }) do
  for _ = 1, 3 do print(1 / -z, 1 / (z * 1), 1 / (0 * z), 1 / (z + 0), 1 / (z - 0), 1 / (0 - z)) end
end

-- strings, and what only a metamethod compares
local words = { "", "a", "b", "ab", "a\0b", "a\0c", "\255", "zz", ("x"):rep(50), ("x"):rep(50) .. "y",
  "10", "9" }
local meta = {}
meta.__lt = function(a, b) return (type(a) == "table" and a.n or a) < (type(b) == "table" and b.n or b) end
meta.__le = function(a, b) return (type(a) == "table" and a.n or a) <= (type(b) == "table" and b.n or b) end
local objects = { setmetatable({ n = 1 }, meta), setmetatable({ n = 2 }, meta), 1, 2.5 }
for round = 1, 3 do
  local found = {}
  for k = 1, 7 do
    local f = comparisons[k]
    for _, a in ipairs(words) do
      for _, b in ipairs(words) do found[#found + 1] = tostring(f(a, b)):sub(1, 1) end
    end
    if k ~= 5 then
      for _, a in ipairs(objects) do
        for _, b in ipairs(objects) do found[#found + 1] = tostring(f(a, b)):sub(1, 1) end
      end
      found[#found + 1] = tostring(pcall(f, "1", 1)) .. select(2, pcall(f, 1, "1"))
      found[#found + 1] = tostring(pcall(f, {}, {})) .. select(2, pcall(f, nil, 0.5))
    end
  end
  if round == 3 then
    for i = 1, #found, 60 do print(table.concat(found, "", i, math.min(i + 59, #found))) end
  end
end
while "a" > "b" do print("never") end
local n, word = 0, "a"
repeat n, word = n + 1, word .. "a" until word > "aaaaaaaaa"
print(n, word)

-- counted loops
local limits = { 0, 1, -1, 10, -10, math.maxinteger, math.mininteger, 2.5, -2.5, math.huge, -math.huge, "x" }
local function run(a, b, c)
  local count, last = 0
  for i = a, b, c do
    count, last = count + 1, i
    if count == 5 then break end
  end
  return count, last
end
for round = 1, 20 do
  local out = {}
  for _, a in ipairs(limits) do
    for _, b in ipairs(limits) do
      for _, c in ipairs({ 1, -1, 3, -7, math.maxinteger, math.mininteger, 0.5, 0 }) do
        local ok, count, last = pcall(run, a, b, c)
        out[#out + 1] = ok and count .. ":" .. tostring(last) or tostring(count)
      end
    end
  end
  if round == 20 then
    local sum = 0
    local line = table.concat(out, " ")
    for i = 1, #line do sum = (sum * 31 + line:byte(i)) % 1000000007 end
    print(#line, sum)
    for k = 1, #out, 61 do print(out[k]) end
  end
end
local total = 0
for i = 1, 300 do
  for j = i, 10, 3 do total = total + j end
  for j = 10, i, -2 do total = total - j end
  for j = i, i do total = total + 1 end
  for j = math.maxinteger - 1, math.maxinteger do total = total + 1 end
  for j = math.mininteger, math.maxinteger, math.maxinteger do total = total + 1 end
end
print(total)
