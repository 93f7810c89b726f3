-- Recursion through pcall and xpcall: an error is thrown at one depth and caught at another one, the levels
-- between give values, texts and tables on; each level may try twice.
local function try(n, thrown, caught)
  if n == thrown then error(n % 2 == 0 and { n = n } or "e" .. n, 0) end
  if n == 0 then return 0 end
  if n == caught then
    local ok, v = pcall(try, n - 1, thrown, caught)
    if ok then return v + 100 end
    return type(v) == "table" and v.n * 1000 or #v
  end
  return try(n - 1, thrown, caught) + 1
end
local line = {}
for thrown = -1, 8 do
  for caught = 1, 10 do
    local ok, v = pcall(try, 10, thrown, caught)
    line[caught] = ok and v or type(v) == "table" and "t" .. v.n or v
  end
  print(thrown, table.concat(line, " "))
end

local function each_level(n, at)
  if n == 0 then
    if at == 0 then local x = nil; x.y = 1 end
    return "none"
  end
  local ok, v = pcall(each_level, n - 1, at)
  if not ok then return "caught at " .. n .. " " .. v end
  if n == at then error(v .. ", thrown at " .. n) end
  return v
end
for n = 1, 12 do
  for at = 0, n, 3 do
    local ok, v = pcall(each_level, n, at)
    if n % 4 == 0 then print(n, at, ok, v) end
  end
end

-- Twice at each level: the second attempt is made with what the first one has left.
local attempts = 0
local function twice(n)
  attempts = attempts + 1
  if attempts % 7 == 0 then error(attempts) end
  if n == 0 then return 1 end
  local ok, v = pcall(twice, n - 1)
  if ok then return v + n end
  ok, v = pcall(twice, n - 2 > 0 and n - 2 or 0)
  return ok and v * 2 or -n
end
for n = 1, 60 do
  local ok, v = pcall(twice, n % 9)
  if n % 6 == 0 then print(n, ok, v, attempts) end
end

-- Handlers see the innermost error, once, with the levels still there.
local depth = 0
local function handled(n, with)
  depth = n
  if n == 0 then error("bottom", 0) end
  if with[n] then
    local ok, v = xpcall(handled, function(m) return m .. "/" .. depth .. "h" .. n end, n - 1, with)
    error(v, 0)
  end
  handled(n - 1, with)
  return n
end
for mask = 0, 15 do
  local with = {}
  for k = 0, 3 do with[k * 2 + 1] = mask >> k & 1 == 1 end
  print(mask, pcall(handled, 8, with))
end

-- Sums of what many protected calls return, in numbers that vary.
local function results(n, ...)
  if n == 0 then return ... end
  return select(2, pcall(results, n - 1, n, ...))
end
local sum = 0
for i = 1, 120 do
  local first, second = results(i % 12, i)
  sum = sum + first + (second or 0.5) + select("#", results(i % 5, nil, nil))
end
print(sum, results(6, "x"))
