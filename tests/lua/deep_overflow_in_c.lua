-- Calls nest as deep with machine code as without before the stack overflows. The interpreter wants free slots
-- for each call of a function in C. So must code in which such a function is taken in, and no call is left.
-- Nothing is made on the way down: a collector that runs all the time would look through the whole stack.
local depth

local function whole (v)
  return math.tointeger(v) + math.floor(1.5)
end

local function by_call (p)
  depth = depth + 1
  local n = whole(p)
  return n + by_call(1)
end

local function last (v)
  return math.tointeger(v)
end

local function by_tail (p)
  depth = depth + 1
  local n = last(p)
  return n + by_tail(n)
end

local one = { 1 }

local function by_loop (p)
  depth = depth + 1
  for _, v in ipairs(one) do
    p = p + v
  end
  for k in pairs(one) do
    p = p + k
  end
  return p + by_loop(1)
end

local function by_pcall (p)
  depth = depth + 1
  local ok, n = pcall(whole, p)
  return n + by_pcall(1)
end

local function by_method (p)
  depth = depth + 1
  local n = ("x"):byte(p)
  return n + by_method(1)
end

for _, f in ipairs { by_call, by_tail, by_loop, by_pcall, by_method, by_call } do
  depth = 0
  local ok, message = pcall(f, 1)
  print(ok, depth, #message)
end

-- A coroutine begins with a small stack, which grows.
depth = 0
local ok, message = coroutine.resume(coroutine.create(by_call), 1)
print(ok, depth, #message)
