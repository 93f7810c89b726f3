-- Methods of userdata in hot loops: files are written, read, measured, closed; errors are results.
local f = io.tmpfile()
for i = 1, 60 do
  f:write(i, " ", i * 0.5, "\n")
  if i % 20 == 0 then f:flush() end
end
local size = f:seek("end")
f:seek("set", 0)
local n, sum = 0, 0
for line in f:lines() do
  n = n + 1
  sum = sum + #line
end
print(size, n, sum)
f:seek("set")
local a, b = 0, 0
while true do
  local x, y = f:read("n", "n")
  if not x then break end
  a, b = a + x, b + y
end
print(a, b)
f:seek("set")
local chars = 0
for c in f:lines(1) do if c == "1" then chars = chars + 1 end end
for i = 1, 20 do
  f:seek("set", i * 3)
  local line, rest = f:read("l", 2)
  chars = chars + #line * 2 + #(rest or "")
end
print(chars, io.type(f), io.type(f:close() and f), io.type(42))
local failed, message = 0, nil
for i = 1, 30 do
  local ok, e = pcall(f.write, f, "x")
  if not ok then failed = failed + 1 message = e end
  local g, why, code = io.open("/nonexistent/" .. i % 2)
  if not g then failed = failed + code end
end
print(failed, message)
local g = io.tmpfile()
for i = 1, 20 do assert(g:write(("%d;"):format(i)) == g) end
for i = 1, 10 do g:seek("cur", -1) g:write(",") end
g:seek("set")
local all = g:read("a")
print(#all, all:sub(-8), g:read("a"), g:read("l"), g:read(0))
for i = 1, 12 do
  local ok, e = pcall(function() for l in g:lines("x") do return l end end)
  if i == 12 then print(ok, e) end
end
-- The length and equality of files, index of userdata, fields that are not there.
local same = 0
for i = 1, 40 do
  local h = i % 2 == 0 and g or io.stdout
  if h == g then same = same + 1 end
  if h.write == g.write then same = same + 10 end
  if h.nothing == nil then same = same + 100 end
  if #tostring(h) > 5 then same = same + 1000 end
end
print(same)
g:close()
print(tostring(g), pcall(function() return g.x.y end))
