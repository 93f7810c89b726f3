-- Errors in frames that code has made: messages, levels and tracebacks as ever.
local function find(list, what)
  for i = 1, #list do
    if list[i] == what then return i end
  end
  if what == 9 then error("no nine") end
  return -1
end
local function walk(depth, what)
  local sum = find({ 1, 2, 3, 4 }, what)
  if depth > 0 then
    sum = sum + walk(depth - 1, what)
    sum = sum + walk(depth - 1, depth == 2 and what >= 7 and what + 1 or what)
  elseif what == 6 then
    sum = sum + nil
  end
  return sum
end
for round = 1, 6 do
  for what = 1, 9 do
    local ok, message = pcall(walk, 4, what)
    print(round, what, ok, message)
  end
end
local function handler(message)
  local text = debug.traceback(message, 1)
  local lines = 0
  for line in text:gmatch("[^\n]+") do
    if line:find("r_errors") and lines < 6 then print((line:gsub("^.*r_errors", "r_errors"))) lines = lines + 1 end
  end
  return "handled"
end
for round = 1, 3 do print(xpcall(walk, handler, 3, 8)) end
