-- Collections in every call, by both collectors, with weak tables, and modes that change inside of calls.
local weak = setmetatable({}, { __mode = "v" })
local keys = setmetatable({}, { __mode = "k" })
local function collect(how)
  if how == 1 then collectgarbage()
  elseif how == 2 then collectgarbage("step", 0)
  elseif how == 3 then collectgarbage("generational") collectgarbage()
  elseif how == 4 then collectgarbage("incremental") collectgarbage() end
end
local function run(how, n)
  local head, count = nil, 0
  for i = 1, n do
    local node = { next = head, value = i }
    weak[i] = node
    keys[node] = i
    weak[-i] = { i }
    head = i % 6 ~= 0 and node or nil
    collect(how)
    count = count + (head and head.value or 0)
  end
  collectgarbage()
  local alive, seen = 0, 0
  for _ in pairs(weak) do alive = alive + 1 end
  for node, i in pairs(keys) do seen = seen + (node.value == i and 1 or 1000) end
  head = head and head.value
  return count, alive, seen, head
end
for how = 0, 4 do print(how, run(how, 20)) end
collectgarbage("generational")
for how = 0, 4 do print(how, run(how, 20)) end
collectgarbage("incremental")
-- Strings, functions and threads that only registers of the loop hold.
local function make(i)
  local text = "text" .. i
  return text, function() return text end, coroutine.wrap(function() coroutine.yield(text) return i end)
end
local total = 0
for i = 1, 40 do
  local text, f, co = make(i)
  collectgarbage(i % 2 == 0 and "collect" or "step")
  local again = co()
  if text == f() and again == text then total = total + co() end
end
print(total)
