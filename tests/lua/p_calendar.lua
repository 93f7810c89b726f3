-- Dates by integer division and modulo, also of negative numbers; the rules of // and % for all signs and both kinds.
local function days_from_civil(y, m, d)
  if m <= 2 then y = y - 1 end
  local era = y // 400
  local yoe = y - era * 400
  local doy = (153 * (m + (m > 2 and -3 or 9)) + 2) // 5 + d - 1
  return era * 146097 + yoe * 365 + yoe // 4 - yoe // 100 + doy - 719468
end
local function civil_from_days(z)
  z = z + 719468
  local era = z // 146097
  local doe = z % 146097
  local yoe = (doe - doe // 1460 + doe // 36524 - doe // 146096) // 365
  local doy = doe - (365 * yoe + yoe // 4 - yoe // 100)
  local mp = (5 * doy + 2) // 153
  local m = mp < 10 and mp + 3 or mp - 9
  return yoe + era * 400 + (m <= 2 and 1 or 0), m, doy - (153 * mp + 2) // 5 + 1
end
local good, weekdays = 0, {}
for n = -150, 150 do
  local z = n * 4999
  local y, m, d = civil_from_days(z)
  if days_from_civil(y, m, d) == z then good = good + 1 end
  local w = (z + 4) % 7
  weekdays[w] = (weekdays[w] or 0) + 1
end
local list = {}
for w = 0, 6 do list[#list + 1] = weekdays[w] end
print(good, table.concat(list, " "))
print(days_from_civil(1970, 1, 1), days_from_civil(2000, 2, 29), civil_from_days(-719468 - 1))
local function month(y, m)
  local first = days_from_civil(y, m, 1)
  local length = days_from_civil(m == 12 and y + 1 or y, m % 12 + 1, 1) - first
  local rows, row = {}, { ("   "):rep((first + 3) % 7) }
  for d = 1, length do
    row[#row + 1] = ("%3d"):format(d)
    if (first + d - 1 + 4) % 7 == 0 or d == length then
      rows[#rows + 1] = table.concat(row)
      row = {}
    end
  end
  return table.concat(rows, "\n")
end
print(month(2024, 2))
print(month(1582, 10))
local leap = 0
for y = 1804, 2100 do
  if y % 4 == 0 and (y % 100 ~= 0 or y % 400 == 0) then leap = leap + 1 end
end
print(leap)
local holds = 0
for i = -20, 20 do
  for j = -6, 6 do
    if j ~= 0 then
      local q, r = i // j, i % j
      local fq, fr = i / 1 // j, i / 1 % j
      if q * j + r == i and (r == 0 or r < 0 == (j < 0)) and fq == q and fr == r and math.abs(r) < math.abs(j) then holds = holds + 1 end
    end
  end
end
print(holds, -7 // 2, -7 % 2, 7 // -2, 7 % -2, -7 // -2, -7 % -2, -7.5 // 2, -7.5 % 2, 7.5 // -2, 7.5 % -2)
local signs = {}
for i = -3, 3 do
  local z = i * 0.0
  signs[#signs + 1] = ("%g/%g/%g"):format(z // 3, z % 3, z % -3)
end
print(table.concat(signs, " "))
local s, t = 0, 0
for i = 1, 120 do
  local big = math.mininteger + i * i
  s = s ~ big // (i - 60 == 0 and -1 or i - 60) ~ big % (i - 60 == 0 and -1 or i - 60)
  t = t + (big // 3.0) % 1000
end
print(s, t, math.mininteger // -1, math.mininteger % -1)
local inf = 0
for i = -50, 50 do
  local q = i / 0 // 1
  if q == math.huge then inf = inf + 1 elseif q == -math.huge then inf = inf - 1 else inf = inf + 1000 end
  if i % math.huge ~= i and i >= 0 then inf = inf + 100000 end
  if i < 0 and i % math.huge ~= math.huge then inf = inf + 100000 end
end
print(inf)
for _, k in ipairs { 5, 5.0 } do
  local caught, message = 0, nil
  for i = -30, 30 do
    local ok, m = pcall(function() return k % i + k // i end)
    if not ok then caught, message = caught + 1, m end
  end
  print(k, caught, message)
end
local h, sequence = 7, {}
for i = 1, 100 do
  h = (h * 16807) % 2147483647
  if i % 25 == 0 then sequence[#sequence + 1] = h // 65536 % 1000 - 500 end
end
print(table.concat(sequence, " "), (5 - 8) % 12, -1 % 256, 3 - 10 // 4 * 4)
