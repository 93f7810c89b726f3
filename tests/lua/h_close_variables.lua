-- To-be-closed variables in loops that are left in every way: end, break, goto, return, error, errors of
-- closing.
local log = 0
local function closer(n, fail)
  return setmetatable({ n = n }, { __close = function(self, e)
    log = (log * 31 + self.n + (e and #tostring(e) or 0)) % 1000003
    if fail then error("c" .. self.n, 0) end
  end })
end
local function run(kind, i)
  local s = 0
  for k = 1, 8 do
    local a <close> = closer(k)
    local b <close> = kind == 6 and k == 5 and closer(k * 10, true) or nil
    s = s + k
    if kind == 1 and k == 5 then break end
    if kind == 2 and k % 2 == 0 then goto continue end
    if kind == 3 and k == 6 then return s, log end
    if kind == 4 and k == 4 then error("e" .. k, 0) end
    if kind == 5 then
      local inner <close> = closer(100 + k)
      while true do
        local d <close> = closer(200)
        if s % 3 == 0 then break end
        s = s + 1
      end
    end
    s = s + log % 3
    ::continue::
  end
  return s
end
for kind = 0, 6 do
  local sum, text = 0, nil
  for i = 1, 12 do
    local ok, v = pcall(run, kind, i)
    if ok then sum = sum + v else text = v end
  end
  print(kind, sum, text, log)
end
-- Values that cannot be closed, and ones that lose their metamethod.
for i = 1, 12 do
  local ok, e = pcall(function()
    for k = 1, 6 do
      local x <close> = k == i % 8 and {} or false
      log = log + 1
    end
    local y <close> = closer(3)
    if i % 3 == 0 then getmetatable(y).__close = nil end
  end)
  if i > 6 then print(i, ok, e, log) end
end
-- In inlined functions, and results that closing must not disturb.
local function guarded(x)
  local c <close> = closer(x)
  return x, x * 2, log
end
local function twice(x)
  local c <close> = closer(x + 1)
  local p, q, r = guarded(x)
  return p + q, r
end
local total = 0
for i = 1, 40 do
  local p, r = twice(i)
  total = (total + p * 3 + r) % 1000003
end
print(total, log)
-- A closed variable's value is a C object.
local files = 0
for i = 1, 10 do
  local f <close> = io.tmpfile()
  f:write("line ", i, "\n")
  f:seek("set")
  files = files + #f:read("a")
end
print(files)
