-- Loops in functions with variable arguments: their frames lie elsewhere on the stack.
local function sum(...)
  local t, s = { ... }, 0
  for i = 1, select("#", ...) do s = s + t[i] end
  return s, ...
end
print(sum(1, 2, 3, 4, 5, 6, 7, 8))
print(sum(1.5, 2, 3, 4))
print(sum())
local function pick(n, ...)
  local s = 0
  for i = 1, n do
    local a, b = ...
    s = s + a * i + (b or 0)
  end
  return s
end
print(pick(10, 1), pick(10, 2, 3), pick(10, 0.5, 1, 2, 3))
print((function(...) local n = 0; for i = 1, 20 do n = n + i end return n, ... end)("a", nil, "c"))
