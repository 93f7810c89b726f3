-- Variables to be closed that closures capture, and closing functions that read captured variables: closed by
-- the end of a block, break, goto, return and errors; closing that fails, and loops that close their state.
local log
local function note(x) log[#log + 1] = x end
local function closer(f) return setmetatable({}, { __close = function(_, e) f(e) end }) end

local function blocks(n)
  local s = 0
  for i = 1, n do
    local x = i
    do
      local c <close> = closer(function() s = s + x x = -x end)
      x = x + 0.5
      local f = function() x = x * 2 return x end
      if i % 3 == 0 then s = s + f() end
      if i % 11 == 0 then goto next end
      x = x - 1
    end
    s = s + x
    ::next::
    if i == 90 then break end
  end
  return s
end
for n = 10, 110, 25 do print(n, blocks(n)) end

local function returns(n)
  local x = 0
  local c <close> = closer(function() x = x + 1000 note(x) end)
  local d <close> = closer(function() x = x + 1 note(x) end)
  local f = function() x = x + n return x end
  if n % 2 == 0 then return x, f() end
  return f(), x, f
end
for n = 1, 40 do
  log = {}
  local a, b, f = returns(n)
  if n % 13 == 0 then print(n, a, b, f and f(), table.concat(log, " ")) end
end

local function errors(n, how)
  local x = n
  local c <close> = closer(function(e) note(x .. ":" .. tostring(e)) end)
  local d <close> = closer(function(e)
    x = x + 1
    if how == 2 or how == 3 then error("closing " .. x, 0) end
  end)
  if how == 1 or how == 3 then error("body " .. x, 0) end
  return x
end
for n = 1, 24 do
  for how = 0, 3 do
    log = {}
    local ok, v = pcall(errors, n, how)
    if n % 8 == 0 then print(n, how, ok, v, table.concat(log, " ")) end
  end
end

-- The fourth value of a generic loop is closed however the loop ends.
local function items(n, name)
  local i = 0
  return function()
    i = i + 1
    if i <= n then return i end
  end, nil, nil, closer(function(e) note(name .. i .. (e and "!" or "")) end)
end
local function loops(n, how)
  local s, kept = 0, nil
  for i in items(n, "o") do
    for j in items(i, "i") do
      s = s + j
      if how == 1 and j == 3 then break end
      if how == 2 and i == 3 then return s end
      if how == 3 and i + j == 7 then error(s) end
      if how == 4 and j == 2 then goto continue end
      kept = function() s = s + i return s end
    end
    ::continue::
  end
  return kept and kept()
end
for n = 0, 6, 2 do
  for how = 0, 4 do
    local ok, v
    for round = 1, 4 do
      log = {}
      ok, v = pcall(loops, n, how)
    end
    print(n, how, ok, v, table.concat(log, " "))
  end
end

-- Closing functions that make closures, and call the ones that see the variable being closed.
local late = {}
local function tangled(n)
  local count = 0
  for i = 1, n do
    local state = i
    local peek = function() return state end
    local c <close> = closer(function()
      state = state + peek()
      late[#late + 1] = function() state = state + 1 return state + count end
    end)
    count = count + peek()
    if i % 4 == 0 then state = state / 4 end
  end
  return count
end
for n = 5, 25, 10 do
  late = {}
  local r = tangled(n)
  local s = 0
  for round = 1, 3 do for _, f in ipairs(late) do s = s + f() end end
  print(n, r, s)
end
-- nil and false need no closing; what has no metamethod is refused, after the variables before it are closed.
local function refused(v)
  local c <close> = closer(function(e) note("closed " .. tostring(e):gsub("^.-: ", "")) end)
  local d <close> = v
  return "fine"
end
for _, v in ipairs { false, 5, "x" } do
  log = {}
  for round = 1, 5 do log = {} refused(nil) end
  print(v, pcall(refused, v))
  print(table.concat(log, " "))
end
