-- One loop, many callers: at several places of one function, of several functions, by tail calls, by
-- methods, through variable arguments, and from C.
local function count(n)
  local k = 0
  for i = 1, n do
    if i * i > n then return k end
    k = k + i
  end
  return k
end
local function twice(n) return count(n) + count(n + 1) end
local function tail(n) return count(n) end
local function varied(...) local n = ... return count(n) + select("#", ...) end
local object = { base = 3 }
function object:count(n) return count(n + self.base) end
local function deep(n) local a = twice(n) local b = tail(n) return a * 2 + b, varied(n, a, b) end
local total = 0
for n = 1, 80 do
  local a, b = deep(n)
  total = total + a + b + object:count(n) + (varied(n))
  local ok, c = pcall(count, n)
  total = total + c + select(2, pcall(tail, n))
end
print(total)
local list = {}
for n = 1, 20 do list[n] = (n * 7) % 13 end
table.sort(list, function(a, b) return count(a) < count(b) or (count(a) == count(b) and a < b) end)
print(table.concat(list, " "))
print((string.gsub("1 22 333 4444", "%d+", function(d) return count(tonumber(d)) .. "!" end)))
