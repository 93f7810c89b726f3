-- Protected calls in and around recursion: at each level, at some, with handlers that look at the frames,
-- errors through several of them, to-be-closed variables on the way, and recursion after all of that.
local depth = 0
local function work(n, at)
  depth = depth + 1
  if n == at then error(n, 0) end
  if n == 0 then return 0 end
  return work(n - 1, at) + 1
end
for i = 1, 20 do work(i % 8, -1) end
local function layers(n, at)
  if n == 0 then return work(6, at) end
  if n % 3 == 0 then
    local ok, r = pcall(layers, n - 1, at)
    if ok then return r + 1 end
    if n % 6 == 0 then error(r + 100, 0) end
    return r + 10
  end
  return layers(n - 1, at) + 1
end
for i = 1, 24 do print(i, depth, pcall(layers, i % 13, i % 7)) end

local function handler(e)
  local count, level = 0, 2
  while debug.getinfo(level, "l") do count = count + 1 level = level + 1 end
  return tostring(e) .. " in " .. count
end
for at = 0, 8, 2 do print(xpcall(work, handler, 8, at)) end
local function handled(n)
  if n == 0 then return nil + 1 end
  if n % 4 == 0 then
    local ok, r = xpcall(handled, handler, n - 1)
    return n % 8 == 0 and error(r, 0) or #r
  end
  return handled(n - 1) + 1
end
for n = 1, 17, 4 do print(n, xpcall(handled, handler, n)) end
local function in_handler(n) if n == 0 then return 0 end return in_handler(n - 1) + 1 end
print(xpcall(work, function(e) return in_handler(e * 3) end, 9, 5))
print(select("#", xpcall(work, function() error("again") end, 9, 5)))

local closed = 0
local function closing(n)
  if n == 0 then error("bottom", 0) end
  local guard <close> = setmetatable({}, { __close = function(_, e) closed = closed + (e and 1 or 100) end })
  local r = n > 3 and closing(n - 1) or work(n, 1)
  return r
end
for i = 1, 9 do print(pcall(closing, i)) print(closed) end
local function deep(n)
  local ok, r = pcall(function() return n == 0 and 0 or deep(n - 1) + 1 end)
  return ok and r or -1
end
print(deep(10), deep(50), deep(150))
local function levels(n) local ok, r = pcall(levels, n + 1) return ok and r or n end
print(levels(1) > 150, levels(1) == levels(1))
for i = 1, 3 do print(work(30, -1), depth) end
