-- Variables that no instruction assigns, set from outside while code has them as constants.
local base, scale = 10, 3
local function f(x) return x * scale + base end
local function change(i)
  if i == 700 then
    for n = 1, 5 do
      local name = debug.getupvalue(f, n)
      if name == "scale" then debug.setupvalue(f, n, 5) end
    end
  end
end
local s = 0
for i = 1, 1500 do
  s = s + f(i)
  change(i)
end
print(s, scale)

-- a local variable of a frame below, by its name
local function set_local(level, name, value)
  for n = 1, 200 do
    local found = debug.getlocal(level + 1, n)
    if found == nil then return end
    if found == name then
      debug.setlocal(level + 1, n, value)
      return
    end
  end
end
local function loop()
  local limit = 100
  local function g(x) return x + limit end
  local sum = 0
  for i = 1, 1200 do
    sum = sum + g(i)
    if i == 600 then set_local(1, "limit", 7) end
  end
  return sum, limit
end
print(loop())

-- set again and again
local step = 1
local function next_of(x) return x + step end
local total = 0
for i = 1, 2000 do
  total = next_of(total)
  if i % 250 == 0 then debug.setupvalue(next_of, 1, i) end
end
print(total, step)

-- from a hook
local hooked = 2
local function h(x) return x * hooked end
local count = 0
debug.sethook(function ()
  count = count + 1
  if count == 3 then debug.setupvalue(h, 1, 4) end
end, "", 1000)
local r = 0
for i = 1, 2000 do r = r + h(i) % 7 end
debug.sethook()
print(count >= 3, hooked)
