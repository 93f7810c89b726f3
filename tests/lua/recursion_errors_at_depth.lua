-- Errors at some depth, of all kinds: by error with levels, by operations on nil, texts and tables, with the
-- names of variables in the message; caught above, where variables have what they had at the call.
local upvalue, field = nil, {}
local function fail(kind, n)
  local here = n
  if kind == 1 then error("plain") end
  if kind == 2 then error("level two", 2) end
  if kind == 3 then error("no level", 0) end
  if kind == 4 then return here + upvalue end
  if kind == 5 then return field.x.y end
  if kind == 6 then return here() end
  if kind == 7 then return field:method(here) end
  if kind == 8 then return #here end
  if kind == 9 then return here < "1" end
  if kind == 10 then return here .. field end
  if kind == 11 then field[nil] = here end
  if kind == 12 then return here // 0 end
  if kind == 13 then return 1 & 1.5 end
  if kind == 14 then for i = 1, 10, 0 do here = i end end
  if kind == 15 then return math.floor(field) end
  if kind == 16 then return ("x"):rep(-1, {}) .. string.char(-here) end
  if kind == 17 then error() end
  if kind == 18 then undefined_function(here) end
  return here
end
local function down(n, kind, state)
  local a, b, c = n, n * 0.5, "s" .. n
  state.level = n
  if n == 0 then return fail(kind, n) end
  local r = down(n - 1, kind, state)
  state.after = state.after + a + b + #c
  return r
end
local function middle(n, kind, state)
  local x, y = n, { n }
  if n == 0 then
    local ok, e = pcall(down, 6, kind, state)
    return ok, e
  end
  local ok, e = middle(n - 1, kind, state)
  if x ~= y[1] then return "broken" end
  return ok, e
end
for kind = 0, 18 do
  local state = { after = 0 }
  for n = 1, 8 do middle(n, kind, state) end
  print(kind, state.level, state.after, middle(3, kind, state))
end

-- The level that an error names moves with the depth at which it is thrown.
local function named(n, level)
  if n == 0 then error("named", level) end
  named(n - 1, level)
  return n
end
for level = 0, 6 do print(level, pcall(named, 3, level)) end

-- Error objects that count the levels that they went through.
local E = {}
E.__index = E
E.__tostring = function(e) return "E(" .. e.n .. ")" end
local function through(n, limit)
  if n == limit then error(setmetatable({ n = 0 }, E)) end
  local ok, e = pcall(through, n + 1, limit)
  if getmetatable(e) == E then e.n = e.n + 1 end
  error(e)
end
for limit = 1, 60, 7 do
  local ok, e = pcall(through, 0, limit)
  print(limit, ok, tostring(e), e.n)
end

-- assert and error as functions of a recursion; values that are no texts.
local function asserts(n, v)
  if n == 0 then return assert(v, n) end
  local a, b = asserts(n - 1, v)
  return a, b
end
for _, v in ipairs { 1, "x", false, true } do
  for n = 0, 30, 15 do print(v, n, pcall(asserts, n, v)) end
end
print(pcall(asserts, 4, nil))
print(select("#", pcall(error)), pcall(error, nil), pcall(error, 3, 2))
