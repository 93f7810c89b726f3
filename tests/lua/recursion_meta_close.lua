-- Recursion in which each level has a variable to be closed: closing in order, at an error from below, by a
-- break and a return; closing functions that recurse in turn, and that fail.
local log = {}
local function guard(name)
  return setmetatable({}, { __close = function(_, e)
    log[#log + 1] = name .. (e and "!" or "")
  end })
end
local function down(n, at)
  local g <close> = guard(n)
  if n == at then error("at " .. n, 0) end
  if n == 0 then return "end" end
  local r = down(n - 1, at)
  return r .. n
end
for round = 1, 20 do
  local n, at = round % 6 + 2, round % 4 == 0 and round % 3 or -1
  log = {}
  print(round, pcall(down, n, at))
  print(table.concat(log, " "))
end

-- In loops of each level, left early.
local function looped(n)
  local s = 0
  for i = 1, 3 do
    local g <close> = guard(n * 10 + i)
    if i == n then break end
    if n > 0 then s = s + looped(n - 1) end
    s = s + i
  end
  return s
end
for n = 0, 5 do
  log = {}
  local r = looped(n)
  print(n, r, #log, table.concat(log, " "):sub(1, 90))
end

-- The closing function recurses through objects that it makes itself.
local total = 0
local function make(n)
  return setmetatable({ n = n }, { __close = function(self, e)
    total = total + self.n
    if self.n > 1 then
      local inner <close> = make(self.n - 1)
      total = total + 1
    end
  end })
end
for n = 1, 30 do
  do
    local x <close> = make(n % 12 + 1)
    total = total + 100
  end
  if n % 6 == 0 then print(n, total) end
end

-- Closing that fails takes the place of the error before it.
local function failing(n)
  local g <close> = setmetatable({}, { __close = function(_, e)
    if n % 2 == 0 then error((e or "none") .. "<" .. n, 0) end
  end })
  if n == 0 then error("first", 0) end
  failing(n - 1)
  return n
end
for n = 0, 12 do print(n, pcall(failing, n)) end

-- The values that are returned are there before the closing, and it cannot change them.
local shared = 0
local function kept(n)
  local before = shared
  local g <close> = setmetatable({}, { __close = function() shared = shared + 1 before = -1 end })
  if n == 0 then return before, shared end
  local a, b = kept(n - 1)
  return a + before, b, shared
end
for n = 0, 40, 5 do print(n, kept(n)) end
