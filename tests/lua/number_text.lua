-- Numbers as text: whole ones are written digit by digit, and must look as the C library writes them.
local list = { 0, 1, -1, 9, 10, 99, 100, 12345678901234, math.maxinteger, math.mininteger, math.maxinteger - 1,
               0.0, -0.0, 1.0, -1.0, 2^53, -2^53, 1e13, 99999999999999.0, 1e14, 1e14 - 1, 1e14 + 1, -99999999999999.0, -1e14,
               123456789012345.0, 1e15, 1e16, 2^63, -2^63, 1e100, 0.5, -0.5, 1.5, 1/3, 1e-5, 100.25, 1/0, -1/0, 2^31, 4294967296.0 }
for _, x in ipairs(list) do
  print(tostring(x), x .. "", "" .. x .. x, ("%s"):format(x), ("%.14g"):format(x), #tostring(x), table.concat({ x, x }, ","))
  if math.type(x) == "integer" then
    print(("%d"):format(x), ("%5d|"):format(x), ("%-5d|"):format(x), ("%05d"):format(x), ("%+d"):format(x), ("%i"):format(x), ("%x"):format(x))
  end
end
print(0/0 ~= 0/0, tostring(-(0/0)):gsub("%-", ""))
for i = 1, 60 do
  local n = 1 << i
  if i % 6 == 0 then print(n, -n, n + 0.0, n - 1, 0.0 + n - 1, tostring(10.0 ^ (i // 4)), ("%d"):format(2.0 ^ (i // 2))) end
end
local t = { }
for i = -20, 20 do t[#t + 1] = i * 37 .. "/" .. i * 0.5 end
print(table.concat(t, " "))
