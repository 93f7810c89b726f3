-- Recursion through pcall in a loop until it is too deep; what each level catches is added up on the way
-- back.
local deepest, caught = 0, 0
local function level(n)
  if n > deepest then deepest = n end
  for i = 1, 2 do
    local ok, v = pcall(level, n + 1)
    if not ok then
      caught = caught + 1
      return n
    end
    return v
  end
end
for i = 1, 6 do
  deepest, caught = 0, 0
  local ok, v = pcall(level, 1)
  print(i, ok, v == deepest, caught, deepest)
end
local function handled(n)
  if n > deepest then deepest = n end
  for i = 1, 2 do
    local ok, v = xpcall(handled, function(m) return #m > 0 end, n + 1)
    if not ok then caught = caught + 1 return n end
    return v
  end
end
for i = 1, 6 do
  deepest, caught = 0, 0
  local ok, v = pcall(handled, 1)
  print(i, ok, v == deepest, caught, deepest)
end
