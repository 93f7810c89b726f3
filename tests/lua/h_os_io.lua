-- os and io functions in loops: files by name, lines, dates, and what they answer when they fail.
local name = os.tmpname()
local f = assert(io.open(name, "w"))
for i = 1, 40 do f:write("line ", i, i % 4 == 0 and "\n\n" or "\n") end
f:close()
local n, sum, blank = 0, 0, 0
for line in io.lines(name) do
  n = n + 1
  sum = sum + (tonumber(line:match("%d+")) or 0)
  if line == "" then blank = blank + 1 end
end
print(n, sum, blank)
for a, b in io.lines(name, "l", 4) do
  n = n + #a
  if not b then break end
  n = n + #b
  if n > 200 then break end
end
print(n)
for round = 1, 12 do
  local count = 0
  for line in io.lines(name, "L") do
    count = count + 1
    if count == round then break end
    if round % 5 == 0 and count == 3 then
      local ok, e = pcall(error, line)
      sum = sum + #e
    end
  end
  sum = sum + count
end
print(sum)
local results = {}
for i = 1, 20 do
  local ok, e, code = os.remove("/nonexistent/dir/file" .. i % 3)
  results[tostring(ok) .. code] = (results[tostring(ok) .. code] or 0) + 1
  ok, e, code = os.rename("/nonexistent/a", "/nonexistent/b" .. i)
  results[tostring(ok) .. code] = (results[tostring(ok) .. code] or 0) + 1
  ok, e = pcall(io.lines, "/nonexistent/x")
  results[e] = (results[e] or 0) + 1
end
local keys = {}
for k, v in pairs(results) do keys[#keys + 1] = k .. "*" .. v end
table.sort(keys)
print(table.concat(keys, " "))
local dates = 0
for i = 1, 40 do
  local t = os.time { year = 2000 + i % 7, month = i % 12 + 1, day = i, hour = 12 }
  local d = os.date("!*t", i * 86400)
  dates = (dates + d.day * 31 + d.month * 7 + d.yday + #os.date("!%A %B", i * 100000)) % 1000003
  dates = dates + (os.difftime(t, t - i) == i and 1 or 0)
  dates = dates + (os.getenv("TRACELIFT_NO_SUCH_VARIABLE") and 1000 or 0)
  dates = dates + (os.clock() >= 0 and 1 or 0) + (type(os.time()) == "number" and 1 or 0)
end
print(dates, pcall(os.date, "%Ez", 0))
-- The default files, changed and restored in a loop.
local old = io.output()
for i = 1, 20 do
  io.output(name)
  io.write(i, ",", i * i, "\n")
  io.close()
  io.output(old)
  io.input(name)
  local a, b = io.read("n", "l")
  sum = sum + a + #b
  io.close(io.input())
  io.input(io.stdin)
end
print(sum, io.output() == io.stdout, os.remove(name), (io.open(name)))
