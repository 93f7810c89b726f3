-- Files as userdata in hot loops: io.tmpfile, writing, reading in every format, seeking, lines, buffers, errors.
local file = assert(io.tmpfile())
local written = 0
for i = 1, 120 do
  assert(file:write(i, " ", i * 0.5, i % 10 == 0 and "\n" or ";"))
  if i % 3 == 0 then written = written + file:seek("cur") end
end
print(written, file:seek("end"), io.type(file), io.type(42))
file:seek("set")
local sum, fields = 0, 0
for line in file:lines() do
  for a, b in line:gmatch("(%d+) ([%d.]+)") do
    sum = sum + tonumber(a) + tonumber(b)
    fields = fields + 1
  end
end
print(sum, fields)
file:seek("set", 0)
local pairs_read, total = 0, 0
while true do
  local a, b, sep = file:read("n", "n", 1)
  if not a then break end
  pairs_read, total = pairs_read + 1, total + a * b
  if sep ~= ";" and sep ~= "\n" then print("separator", sep) end
end
print(pairs_read, total, file:read("a"), file:read("a"), file:read("l"), file:read(0))
file:seek("set", 0)
local bytes, blocks = 0, 0
repeat
  local block = file:read(7)
  if block then
    blocks = blocks + 1
    for i = 1, #block do bytes = (bytes * 31 + block:byte(i)) % 65521 end
  end
until not block
print(blocks, bytes)
file:seek("set", 0)
local kept = {}
for line in file:lines("L") do kept[#kept + 1] = #line .. line:sub(-1):gsub("\n", "$") end
print(table.concat(kept, " "))
local fixed = assert(io.tmpfile())
fixed:setvbuf("full", 64)
for i = 1, 100 do fixed:write(("%04d"):format(i * i)) end
local back = 0
for i = 100, 1, -1 do
  local at = fixed:seek("set", (i - 1) * 4)
  if i <= 99 then
    local v = tonumber(fixed:read(4))
    back = back + v * (at % 3)
    if i % 10 == 0 then
      fixed:seek("set", at)
      fixed:write(("%04d"):format(v // 2))
    end
  end
end
fixed:seek("set", 9 * 4)
print(back, fixed:read(4), fixed:seek("cur"))
local methods, names = 0, { "write", "read", "lines", "seek", "close", "flush", "missing" }
for i = 1, 70 do
  local m = fixed[names[i % 7 + 1]]
  if m then methods = methods + 1 end
end
print(methods, getmetatable(fixed).__name, (tostring(fixed):gsub("%(.*", "(")))
local failures = {}
for i = 1, 60 do
  local f = i % 2 == 0 and fixed or file
  if i == 20 then print(fixed:close()) end
  local ok, message = pcall(f.seek, f, "set", i)
  if not ok then failures[message] = (failures[message] or 0) + 1 end
end
for m, n in pairs(failures) do print(m, n) end
print(io.type(fixed), pcall(function() return fixed:read() end))
print(pcall(file.read, file, "x"))
local missing = 0
for i = 1, 50 do
  local f, message, code = io.open("no-such-folder/" .. i)
  if not f and message:find("No such file", 1, true) and code == 2 then missing = missing + 1 end
end
print(missing, pcall(io.open, "x", "bad mode"), pcall(io.lines, "no-such-file"))
do
  local scoped <close> = io.tmpfile()
  scoped:write("a\n\nb")
  scoped:seek("set")
  local list = {}
  for l in scoped:lines() do list[#list + 1] = "<" .. l .. ">" end
  print(table.concat(list))
end
for i = 1, 60 do io.write(i % 20 == 0 and i .. "\n" or "") end
io.stdout:write("chain ", 1, " "):write(2.5, "\n")
