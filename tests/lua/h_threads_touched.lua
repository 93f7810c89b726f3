-- Hooks and locals of one thread that another one sets, while the first waits in a loop for it.
local lines, counts = {}, 0
local function line_hook(_, line) lines[#lines + 1] = line end
local function count_hook() counts = counts + 1 end
local function helper(owner)
  return coroutine.wrap(function()
    local i = 0
    while true do
      i = i + 1
      local what = coroutine.yield(i)
      if what == "lines" then debug.sethook(owner, line_hook, "l")
      elseif what == "counts" then debug.sethook(owner, count_hook, "", 3)
      elseif what == "off" then debug.sethook(owner)
      elseif type(what) == "number" then
        for n = 1, 30 do
          local name, old = debug.getlocal(owner, 1, n)
          if not name then break end
          if name == "target" then debug.setlocal(owner, 1, n, old * 2 + what) end
        end
      end
    end
  end)
end
local function run(n, plan)
  local help = helper((coroutine.running()))
  local target, s = 1, 0
  help()
  for i = 1, n do
    s = s + help(plan[i])
    target = (target + i) % 1009
    s = (s + target) % 100003
  end
  help("off")
  return target, s
end
local plans = {
  {}, { [12] = 5, [25] = 0.5 }, { [20] = "lines", [22] = "off" }, { [15] = "counts", [24] = "off" },
  { [8] = 3, [9] = "lines", [10] = 4, [11] = "off", [21] = 7 }, { [27] = "counts" },
}
for round = 1, 3 do
  for k = 1, #plans do
    lines, counts = {}, 0
    print(round, k, run(28, plans[k]))
    print(#lines, counts, table.concat(lines, " "))
  end
end
for k = 1, #plans do
  lines, counts = {}, 0
  print(k, coroutine.wrap(run)(28, plans[k]))
  print(#lines, counts, table.concat(lines, " "))
end
-- A suspended thread whose loop is hot gets a hook, and its locals change their types.
local function worker()
  local acc = 0
  for i = 1, 60 do
    acc = acc + i
    acc = acc + (coroutine.yield(acc) or 0)
  end
  return acc
end
for round = 1, 4 do
  local co = coroutine.create(worker)
  lines = {}
  local ok, v
  for i = 1, 50 do
    ok, v = coroutine.resume(co, i)
    if i == 20 * round then debug.sethook(co, line_hook, "l") end
    if i == 20 * round + 3 then debug.sethook(co) end
    if i == 11 then debug.setlocal(co, 1, 1, round == 2 and 0.25 or round == 3 and "7" or 100) end
  end
  print(round, ok, v, #lines, table.concat(lines, " "))
end
-- Frames are looked at from another thread: where they are, and what they hold.
local function seen(owner)
  local info = debug.getinfo(owner, 1, "l")
  local parts = { info.currentline }
  for n = 1, 20 do
    local name, value = debug.getlocal(owner, 1, n)
    if not name then break end
    if name:sub(1, 1) ~= "(" and type(value) == "number" then parts[#parts + 1] = name .. value end
  end
  return table.concat(parts, ",")
end
local owner = coroutine.running()
local last
local function look(n)
  local x, y = 1, 0.5
  for i = 1, n do
    x = x + i
    if i % 3 == 0 then y = y * 2 % 17 end
    local z = x % 7
    last = coroutine.wrap(seen)(owner)
    x = x + z
  end
  return x, y
end
print(look(30))
print(last)
