-- What try-perf and try-gdb run: a loop that calls C, one that only computes, a sort with an order in Lua.
local function mix(n)
  local s = 0
  for i = 1, n do
    local t = { i, i + 1 }
    s = s + t[1] * 2 + #tostring(i)
  end
  return s
end

local function sums(n)
  local s = 0.0
  for i = 1, n do s = s + i % 7 * 0.5 end
  return s
end

local function sorted(n)
  local t = {}
  for i = 1, n do t[i] = (i * 7919) % 10007 end
  table.sort(t, function(a, b) return a < b end)
  return t[1] + t[n]
end

local total = 0
for _ = 1, 20 do total = total + mix(20000) + sums(500000) + sorted(20000) end
print(total)
