-- A report: string.format with every conversion in loops, columns, rounding, quoting, times and sizes as people read them.
local items = {
  { "apple", 0.25, 120 }, { "quince", 12.5, 7 }, { "cherry (black)", 1 / 3, 900 }, { "fig", 1e6, 1 }, { "", 0.005, -4 }
}
local total = 0.0
for i, item in ipairs(items) do
  local sum = item[2] * item[3]
  total = total + sum
  print(("%2d| %-10s|%12.2f x %+5d =%12.3f|%s"):format(i, item[1], item[2], item[3], sum, ("*"):rep(math.min(20, sum // 50 | 0))))
end
print(("%-14s %.2f"):format("total:", total))
local hash = 0
local function add(s) for i = 1, #s do hash = (hash * 31 + s:byte(i)) % 1000000007 end end
for i = -60, 60 do
  add(("%d %5d %-5d| %05d %+d %x %X %o %c %i"):format(i, i, i, i, i, i & 255, i & 0xfff, i & 63, 65 + i % 26, i))
  add(("%s %10s %-10s| %.3s %q"):format(i, i * 0.5, "n" .. i, "abcdef", "line\n" .. i))
  add(("%f %.0f %8.3f %e %.2e %g %.3g %a"):format(i / 7, i / 7, i / 7, i / 7, i / 7, i / 7, i * 1e10 / 7, i / 8))
  if i % 30 == 0 then print(hash) end
end
local function size(n)
  local units = { "B", "KiB", "MiB", "GiB" }
  local k = 1
  while n >= 1024 and k < #units do n, k = n / 1024, k + 1 end
  return (k == 1 and "%d %s" or "%.1f %s"):format(n, units[k])
end
local line = {}
for i = 0, 36, 4 do line[#line + 1] = size(3 * (1 << i) // 2) end
print(table.concat(line, ", "))
local function clock(s)
  if s >= 3600 then return ("%d:%02d:%02d"):format(s // 3600, s % 3600 // 60, s % 60) end
  return ("%d:%02d"):format(s // 60, s % 60)
end
line = {}
for s = 0, 9000, 777 do line[#line + 1] = clock(s) end
print(table.concat(line, " "))
local function commas(n)
  local s = ("%d"):format(n)
  repeat
    local left
    s, left = s:gsub("^(-?%d+)(%d%d%d)", "%1,%2")
  until left == 0
  return s
end
local n = 1
for i = 1, 20 do n = n * -7 if i % 4 == 0 then print(commas(n), commas(n // 1000)) end end
local errors = {}
for i = 1, 60 do
  local formats = { "%d", "%s", "%5.1f", "%y", "%d %d", "%c", "%x" }
  local arguments = { 3.0, 3.5, "7", "x", true }
  local format, argument = formats[i % #formats + 1], arguments[i % #arguments + 1]
  local ok, result = pcall(string.format, format, argument)
  errors[format .. tostring(argument)] = ok and result or (result:gsub("^.-:%d+: ", ""))
end
local keys = {}
for k in pairs(errors) do keys[#keys + 1] = k end
table.sort(keys)
for _, k in ipairs(keys) do print(k, (errors[k]:gsub("%c", "?"))) end
print(("%q %q %q"):format(1 / 3, math.mininteger, "a\0b\r\n\\\""))
for i = 1, 3 do print(("%5s|%-5s|%%|%5.1f"):rep(2, "#"):format(i, i, i, i, i, i)) end
local rows = {}
for i = 1, 80 do rows[i] = ("%s=%s"):format(i % 3 == 0 and setmetatable({}, { __tostring = function() return "T" .. i end }) or i, i % 2 == 0) end
print(rows[3], rows[80], table.concat(rows):len())
