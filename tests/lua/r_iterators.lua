-- Iterators written in Lua, with loops of their own, called by loops in other functions.
local function primes(limit, p)
  for n = p + 1, limit do
    local is = true
    for d = 2, n - 1 do
      if d * d > n then break end
      if n % d == 0 then is = false break end
    end
    if is then return n end
  end
end
local function sum(limit)
  local s = 0
  for p in primes, limit, 1 do s = s + p end
  return s
end
for limit = 5, 60, 5 do print(limit, sum(limit)) end
local function words(text)
  local at = 1
  return function()
    while at <= #text and text:byte(at) == 32 do at = at + 1 end
    if at > #text then return nil end
    local from = at
    while at <= #text and text:byte(at) ~= 32 do at = at + 1 end
    return text:sub(from, at - 1)
  end
end
local function longest(text)
  local best = ""
  for word in words(text) do if #word > #best then best = word end end
  return best, #best
end
for i = 1, 20 do print(longest(("ab  " .. ("c"):rep(i) .. " d "):rep(3) .. ("e"):rep(10))) end
