-- Hooks that are set between loops see every return and line.
local function find(n)
  for i = 1, 8 do
    if i > n then return i end
  end
  return 0
end
local function middle(n)
  local a = find(n)
  local b = find(n + 1)
  return a * 10 + b
end
local function outer(n)
  local sum = 0
  for k = 1, 3 do sum = sum + middle(n + k) end
  return sum
end
for round = 1, 40 do
  local events = {}
  if round % 10 == 0 then
    debug.sethook(function(event, line)
      local info = debug.getinfo(2, "nSl")
      events[#events + 1] = event:sub(1, 1) .. (line or info.currentline)
    end, round % 20 == 0 and "crl" or "r")
  end
  local sum = outer(round % 5)
  debug.sethook()
  print(round, sum, #events, table.concat(events, " ", 1, math.min(#events, 12)))
end
