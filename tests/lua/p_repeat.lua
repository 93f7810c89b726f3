-- repeat ... until with locals in the condition, also captured by closures, with breaks, nested, and with changing types.
local function root(x)
  local guess, rounds = x, 0
  repeat
    local better = (guess + x / guess) / 2
    local change = better - guess
    guess = better
    rounds = rounds + 1
  until change * change < 1e-18 * x * x
  return guess, rounds
end
local most, sum = 0, 0
for i = 1, 80 do
  local r, n = root(i)
  sum = sum + r
  if n > most then most = n end
end
print(most, ("%.9f"):format(sum))
local function digits(n)
  local list = {}
  repeat
    local d = n % 10
    list[#list + 1] = d
    n = n // 10
    local is_done = n == 0
  until is_done
  return list
end
local all = {}
for i = 0, 2000, 37 do all[#all + 1] = #digits(i) .. digits(i)[1] end
print(table.concat(all, ""))
local longest, at = 0, 0
for start = 1, 150 do
  local n, steps = start, 0
  repeat
    if n % 2 == 0 then n = n // 2 else n = 3 * n + 1 end
    steps = steps + 1
    local here = n
  until here == 1 or here == 4
  if steps > longest then longest, at = steps, start end
end
print(longest, at)
local captured, k = {}, 0
repeat
  k = k + 1
  local own = k * k
  captured[k] = function(d) own = own + d return own end
  local limit = captured[k](0) >= 70 * 70
until limit
local s = 0
for i = 1, #captured do s = s + captured[i](1) + captured[i](-1) end
print(#captured, s)
local seen, x = {}, 1
repeat
  local before = seen[x]
  seen[x] = true
  x = x * 7 % 211
until before
print(x)
local i, out = 0, {}
repeat
  i = i + 1
  local j = 0
  repeat
    j = j + 1
    local product = i * j
    if product > 60 then break end
    if product % 7 == 0 then out[#out + 1] = product end
  until product == 42
  local enough = #out
until enough >= 25 or i > 40
print(i, table.concat(out, " "))
local value, kinds = 1, {}
repeat
  local kind = math.type(value) or type(value)
  kinds[kind] = (kinds[kind] or 0) + 1
  if kind == "integer" then value = value * 3
  elseif kind == "float" then value = value / 2
  end
  if value == 3 ^ 30 // 1 | 0 then value = value + 0.5 end
  local small = value < 1
until small
print(kinds.integer, kinds.float, value)
local text, words = "the cat sat on the mat with the hat", {}
local position = 1
repeat
  local from, to, word = text:find("(%a+)", position)
  if from then
    words[word] = (words[word] or 0) + 1
    position = to + 1
  end
until not from
print(words.the, words.hat, position)
local function bisect(f, low, high)
  local n = 0
  repeat
    local middle = low + (high - low) / 2
    local y = f(middle)
    if y < 0 then low = middle else high = middle end
    n = n + 1
    local width <const> = high - low
  until width < 1e-10 or n > 200
  return low, n
end
for e = 2, 5 do
  local r, n = bisect(function(v) return v ^ e - 10 end, 0, 10)
  print(("%.8f %d"):format(r, n))
end
local queue, head, visited = { 1 }, 1, 0
repeat
  local n = queue[head]
  head = head + 1
  if n < 200 then
    queue[#queue + 1] = n * 2
    if n % 3 == 1 and n > 1 then queue[#queue + 1] = n * 3 end
  end
  visited = visited + n
until head > #queue
print(head, visited)
