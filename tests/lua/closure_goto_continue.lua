-- goto as continue, redo and break in loops with captured variables: a variable is closed by a jump out of
-- its block, made anew by a jump back, and captured on some paths only.
local function continue(n)
  local kept, s = {}, 0
  for i = 1, n do
    local x = i
    if i % 5 == 0 then goto next end
    if i % 3 == 0 then
      kept[#kept + 1] = function() x = x + 1 return x end
      if i % 2 == 0 then goto next end
      x = x * 10
    end
    s = s + x
    ::next::
  end
  for round = 1, 2 do
    for _, f in ipairs(kept) do s = s + f() end
  end
  return s, #kept
end
for n = 5, 125, 30 do print(n, continue(n)) end

local function redo(n)
  local fs, i = {}, 0
  ::again::
  do
    local x = i
    fs[#fs + 1] = function(d) x = x + d return x end
    i = i + 1
    if i % 4 == 1 then
      local y = x
      fs[#fs + 1] = function() y = y - 1 x = x + 1 return y end
      if i < n then goto again end
    end
    x = x + 0.5
  end
  if i < n then goto again end
  local s = 0
  for k, f in ipairs(fs) do s = s + f(k) * 2 end
  return s, #fs
end
for n = 1, 101, 20 do print(n, redo(n)) end

local function nested(n)
  local out = {}
  for i = 1, n do
    local a = i
    for j = 1, n do
      local b = j
      local f = function() return a * 100 + b end
      if j > i then goto continue_outer end
      if (i + j) % 3 == 0 then goto continue_inner end
      out[#out + 1] = f
      b = b + 0.5
      if i * j > 60 then goto done end
      ::continue_inner::
      a = a + 1
    end
    ::continue_outer::
  end
  ::done::
  local s = 0
  for k = 1, #out do s = s + out[k]() end
  return s, #out
end
for n = 1, 16, 3 do print(n, nested(n)) end

local function with_while(n)
  local total, i = 0, 0
  local last
  while true do
    i = i + 1
    local v = i * 2
    local function add() total = total + v v = v + 1 end
    if i > n then break end
    add()
    if i % 4 == 0 then goto continue end
    add()
    if i % 6 == 0 then last = add goto continue end
    last = last or add
    last()
    ::continue::
  end
  return total, i
end
for n = 0, 300, 60 do print(n, with_while(n)) end

local function with_repeat(n)
  local list, i = {}, 0
  repeat
    local x = i
    i = i + 1
    if i % 3 == 0 then goto skip end
    list[#list + 1] = function() x = x + i return x end
    do
      local x = "inner" .. i
      if i % 7 == 0 then
        list[#list + 1] = function() return #x end
        goto skip
      end
    end
    x = x + 1
    ::skip::
  until i >= n
  local s = 0
  for _, f in ipairs(list) do s = s + f() end
  return s, #list
end
for n = 1, 121, 30 do print(n, with_repeat(n)) end

-- A state machine in one function: jumps between labels, with a captured counter.
local function machine(n)
  local count = 0
  local function tick(k) count = count + k return count % 3 end
  ::a::
  if count >= n then return count, "a" end
  if tick(1) == 0 then goto c end
  ::b::
  if count >= n then return count, "b" end
  do
    local k = 2
    local f = function() k = k + 1 return tick(k) end
    if f() == 1 then goto a end
    if f() == 0 then goto b end
  end
  ::c::
  if count >= n then return count, "c" end
  if tick(0.5 + 0.5) == 2 then goto b end
  goto a
end
for n = 0, 800, 89 do print(n, machine(n)) end
