-- To-be-closed variables: order, errors inside, break, goto, return, generic loops that close.
local log = {}
local function guard(name) return setmetatable({ name = name }, { __close = function(self, e) log[#log + 1] = self.name .. (e and "!" or "") end }) end
local function flush() print(table.concat(log, " ")); log = {} end
for i = 1, 6 do
  local a <close> = guard("a" .. i)
  local b <close> = guard("b" .. i)
  local middle = i * 2
  if i == 3 then goto continue end
  if i == 5 then break end
  log[#log + 1] = middle
  ::continue::
end
flush()
local function early(n)
  local first <close> = guard("f")
  for i = 1, 10 do
    local inner <close> = guard(i)
    if i == n then return i, n, "x" end
  end
  return "end"
end
for n = 1, 12, 3 do log[#log + 1] = table.concat({ early(n) }, ":") end
flush()
for i = 1, 8 do
  local ok, message = pcall(function()
    local x <close> = guard("x" .. i)
    local nothing <close> = nil
    local off <close> = false
    local sum = 0
    for j = 1, i do
      local y <close> = guard("y")
      sum = sum + j
      if sum > 9 then error("stop " .. sum, 0) end
    end
    return sum
  end)
  log[#log + 1] = tostring(ok) .. tostring(message)
end
flush()
local function items(n)
  local i = 0
  return function() i = i + 1; if i <= n then return i, i * i end end, nil, nil, guard("loop" .. n)
end
local total = 0
for n = 1, 7 do
  for i, square in items(n) do
    total = total + square
    if i == 4 then break end
  end
end
flush()
print(total)
local function failing(n) return setmetatable({}, { __close = function(_, e) error((e or "none") .. n, 0) end }) end
print(pcall(function() local a <close> = failing(1); local b <close> = failing(2); for i = 1, 3 do local c = i end error("start", 0) end))
local function upvalue()
  local resource <close> = guard("up")
  local count = 0
  local function add() count = count + 1; return resource.name .. count end
  for i = 1, 5 do log[#log + 1] = add() end
  return add()
end
print(upvalue()) flush()
