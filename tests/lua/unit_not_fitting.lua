-- Functions that call themselves and do more than a unit can: variable arguments, tail calls, closures over
-- their registers, loops, concatenation, variables to be closed, several results; each once with the part
-- that does not fit in a branch that is seldom taken.
local function varargs(n, ...)
  if n == 0 then return select("#", ...) end
  return varargs(n - 1, n, ...) + 1
end
local function tail(n, x) if n == 0 then return x end return tail(n - 1, x + n) end
local function both(n, x)
  if n == 0 then return x end
  if n % 3 == 0 then return both(n - 1, x + 1) end
  return both(n - 1, x) + 1
end
local kept = {}
local function closes(n)
  if n == 0 then return 0 end
  local mine = n
  if n % 5 == 0 then kept[#kept + 1] = function() mine = mine + 1 return mine end end
  local r = closes(n - 1)
  return r + mine
end
local function loops(n)
  if n == 0 then return 1 end
  local s = 0
  if n % 4 == 0 then for i = 1, n do s = s + i end end
  return loops(n - 1) + s
end
local function concats(n)
  if n == 0 then return 0 end
  if n % 6 == 0 then return #(n .. "x") + concats(n - 1) end
  return concats(n - 1) + 1
end
local closed = 0
local function to_be_closed(n)
  if n == 0 then return 0 end
  if n % 4 == 0 then
    local guard <close> = setmetatable({}, { __close = function() closed = closed + 1 end })
    local r = to_be_closed(n - 1)
    return r + 10
  end
  return to_be_closed(n - 1) + 1
end
local function results(n)
  if n == 0 then return 1, 2 end
  if n % 7 == 0 then return results(n - 1) end
  local a, b = results(n - 1)
  return b, a + b
end
local function passes(n, f)
  if n == 0 then return f(n) end
  return (passes(n - 1, function(x) return f(x + n) end))
end
local function table_of(n) if n == 0 then return {} end return { n, table_of(n - 1) } end
local function open(n) if n == 0 then return 1, 2, 3 end return n, open(n - 1) end
for i = 0, 25 do
  print(i, varargs(i), varargs(i, 1, nil), tail(i, 0), both(i, 0), closes(i), loops(i), concats(i))
  print(to_be_closed(i), closed, results(i), select("#", open(i)),
        passes(i, function(x) return x end), #table_of(i))
end
local s = 0
for round = 1, 3 do for i, f in ipairs(kept) do s = s + f() * i end end
print(#kept, s)
print(pcall(string.rep, "x", -1), tail(3000, 0), both(300, 0.5), select(-1, open(100)))
