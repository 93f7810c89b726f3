-- Sums and smooths a signal: plain Lua 5.4, nothing here knows of the JIT.
-- Usage: tracelift run examples/sum.lua [samples] [rounds]
local samples = tonumber(arg[1]) or 100000
local rounds = tonumber(arg[2]) or 300

local signal = {}
for i = 1, samples do
  signal[i] = (i * 7919 % 1000) / 1000.0
end

local total, peak = 0.0, 0.0
local start = os.clock()
for round = 1, rounds do
  local sum = 0.0
  for i = 1, samples do
    sum = sum + signal[i]
  end
  local previous = signal[1]
  for i = 2, samples do
    local here = signal[i]
    signal[i] = previous * 0.5 + here * 0.5
    previous = here
    if here > peak then peak = here end
  end
  total = total + sum
end

print(string.format("total %.6f, peak %.3f", total, peak))
io.stderr:write(string.format("%.2f s for %d million samples\n", os.clock() - start, samples * rounds // 1000000))
