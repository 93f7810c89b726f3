-- Each operator at one site whose operand types change in the middle of the loop, also to types that make it an error.
local values = { 3, 2.5, "7", -0.0, math.maxinteger, 0, 1e308, "x", false, {} }
local function show(v) return math.type(v) == "float" and string.format("%.14g", v) .. "f" or type(v) == "table" and "table" or tostring(v) end
local function sites()
  local f = {}
  f[1] = function(a, b) local r for i = 1, 30 do r = i > 20 and a + b or 1 + i end return r end
  f[2] = function(a, b) local r, x = 0, 1 for i = 1, 30 do if i == 20 then x = a end r = x - b end return r end
  f[3] = function(a, b) local r, x = 0, 1.5 for i = 1, 30 do if i == 20 then x = b end r = a * x end return r end
  f[4] = function(a, b) local r, x = 0, 4 for i = 1, 30 do if i == 20 then x = a end r = x / b end return r end
  f[5] = function(a, b) local r, x = 0, 4 for i = 1, 30 do if i == 20 then x = b end r = a // x end return r end
  f[6] = function(a, b) local r, x = 0, 4.5 for i = 1, 30 do if i == 20 then x = b end r = a % x end return r end
  f[7] = function(a, b) local r, x = 0, 2 for i = 1, 30 do if i == 20 then x = b end r = a ^ x end return r end
  f[8] = function(a, b) local r, x = 0, 2 for i = 1, 30 do if i == 20 then x = b end r = (x & 12) | (x ~ 5) end return r end
  f[9] = function(a, b) local r, x = 0, 2 for i = 1, 30 do if i == 20 then x = a end r = (x << 2) + (x >> 1) end return r end
  f[10] = function(a, b) local r, x = 0, 2 for i = 1, 30 do if i == 20 then x = a end r = x .. b end return r end
  f[11] = function(a, b) local r, x = 0, 2 for i = 1, 30 do if i == 20 then x = a end r = (x < b and 1 or 2) + (x <= b and 10 or 20) end return r end
  f[12] = function(a, b) local r, x = 0, 2 for i = 1, 30 do if i == 20 then x = a end r = (x == b and 1 or 2) + (x ~= 3 and 10 or 20) end return r end
  f[13] = function(a, b) local r, x = 0, 2 for i = 1, 30 do if i == 20 then x = a end r = -x end return r end
  f[14] = function(a, b) local r, x = 0, "ab" for i = 1, 30 do if i == 20 then x = a end r = #x end return r end
  f[15] = function(a, b) local r, x = 0, 2 for i = 1, 30 do if i == 20 then x = a end r = not x end return r end
  f[16] = function(a, b) local r, x = 0, 2 for i = 1, 30 do if i == 20 then x = a end r = (x > 1 and 1 or 2) + (x >= 7 and 10 or 20) + (3 < x and 100 or 200) end return r end
  return f
end
for n = 1, 16 do
  local row = {}
  for i, a in ipairs(values) do
    for d = 0, 3, 3 do
      local b = values[(i + d) % #values + 1]
      local f = sites()[n]
      local ok, r = pcall(f, a, b)
      row[#row + 1] = ok and show(r) or r:gsub("^.-:%d+: ", "")
    end
  end
  print(n, table.concat(row, " "))
end
