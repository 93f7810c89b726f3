-- Generic loops over C functions, callable objects, coroutines and closures, left and entered in all ways.
local sum = 0
for round = 1, 8 do
  for w, n in ("a1 b22 c333 d4444 e5 f66"):gmatch("(%a)(%d+)") do
    sum = sum + w:byte() * #n
    if round % 3 == 0 and w == "c" then break end
  end
  local t = { 1, 2, x = 3, y = 4, [10] = 5 }
  local keys = 0
  for k, v in pairs(t) do
    keys = keys + v
    t[k] = nil
    if round % 2 == 0 and v == 2 then t[k] = 0 end
  end
  sum = sum + keys
  for k, v in pairs(setmetatable({}, { __pairs = function(_) return function(n, k)
    if k < n then return k + 1, k * 2 end
  end, 9, 0 end })) do sum = sum + k * v end
  for i, v in ipairs(setmetatable({}, { __index = function(_, i) if i < 12 then return i * i end end })) do
    sum = sum + i + v
  end
  for k in next, { 5, 6, 7 } do sum = sum + k end
  for v in setmetatable({ n = 0 }, { __call = function(self)
    self.n = self.n + 1
    if self.n < 9 then return self.n end
  end }) do
    sum = sum + v
  end
  for a, b, c in coroutine.wrap(function()
    for k = 1, 8 do coroutine.yield(k, k % 2 == 0 and k or nil) end
  end) do
    sum = sum + a + (b or 0.5) + (c or 0.25)
  end
  for v in select, 3, 1 do sum = sum + v break end
  local n = 0
  for r in pcall, function() n = n + 1 if n == 6 then error() end return n end do
    sum = sum + n
    if not r then break end
  end
end
print(sum)
-- The steps fail, change the loop's tables, or are replaced in the middle.
local failures = {}
for i = 1, 20 do
  local ok, e = pcall(function()
    local t = {}
    for k = 1, i do t[k] = k end
    for k, v in pairs(t) do
      t[k] = nil
      if k == 3 then t.new1, t.new2, t.new3, t.new4, t.new5 = 1, 2, 3, 4, 5 end
      if v == i and i % 4 == 0 then next(t, "absent") end
    end
    for l in io.lines("/nonexistent") do return l end
  end)
  e = tostring(e):gsub("^.-:%d+: ", "")
  failures[e] = (failures[e] or 0) + 1
end
print(failures["/nonexistent: No such file or directory"], failures["invalid key to 'next'"])
local function chars(s)
  local place = 0
  return function()
    place = place + 1
    if place <= #s then return s:sub(place, place), place end
  end
end
local text = {}
for i = 1, 12 do
  for c, n in chars(("abcdef"):sub(1, i % 7)) do
    if n == 5 then goto out end
    text[#text + 1] = c
    for d in chars(c .. n) do if d ~= c then text[#text + 1] = d end end
  end
  ::out::
end
print(table.concat(text))
-- With values to be closed, which count and fail.
local closed = 0
local function closing(fail) return setmetatable({}, { __close = function(_, e)
  closed = closed + (e and 100 or 1)
  if fail then error("closing", 0) end
end }) end
for i = 1, 30 do
  local ok, e = pcall(function()
    for k in next, { 1, 2, 3 }, nil, closing(i % 6 == 0) do
      if k == i % 4 then break end
      if i % 7 == 0 then error("body", 0) end
      if i % 5 == 0 then return k end
    end
  end)
  closed = closed + (ok and 0 or #e)
end
print(closed)
