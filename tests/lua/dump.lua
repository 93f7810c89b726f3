-- Functions dumped and loaded, with and without their debug information, run as the original does.
local function work(n)
  local s = 0
  for i = 1, n do s = s + i % 7 end
  return s
end
print(work(50))
local copy = load(string.dump(work))
print(copy(50), copy(10))
local stripped = load(string.dump(work, true))
print(stripped(50))
print(select("#", pcall(stripped, {})))
