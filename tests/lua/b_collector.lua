-- Program (b) while the collector runs as often as it can: in both modes, with weak tables, and with finalizers that look at the
-- loop's variables.
local weak = setmetatable({}, { __mode = "v" })
local looked, wrong = 0, 0
local function look()
  for level = 2, 6 do
    local index = 1
    while true do
      local ok, name, value = pcall(debug.getlocal, level + 1, index)
      if not ok or not name then break end
      if name == "watched" then
        looked = looked + 1
        if value.y ~= value.at[1] + 1 or value.at.of ~= value then wrong = wrong + 1 end
      end
      index = index + 1
    end
  end
  setmetatable({}, { __gc = look })
end
look()
local function loop(n, garbage)
  local watched = { y = 1, at = { 0 } }
  watched.at.of = watched
  local previous = watched
  for i = 1, n do
    previous = watched
    local t = { y = i + 1, at = { i, of = false } }
    t.at.of = t
    watched = t
    if i % 5 == 0 then
      weak[i % 3 + 1] = previous
      garbage = "g" .. i
    end
    if i % 60 == 0 then collectgarbage("step", 1) end
    if watched.at[1] - i ~= 0 or previous == watched then wrong = wrong + 1 end
  end
  weak[4] = watched
  local is_there = weak[4] == watched
  collectgarbage()
  return watched.y, previous.y, watched.at.of == watched, is_there, weak[4] == watched, garbage
end
local function modes(n)
  collectgarbage("incremental", 100, 100)
  print(loop(n))
  collectgarbage("incremental", 1, 1000, 1)
  collectgarbage("setpause", 0)
  print(loop(n))
  collectgarbage("generational", 1, 1)
  print(loop(n))
  collectgarbage("stop")
  print(loop(n))
  collectgarbage("restart")
  collectgarbage("incremental", 200, 100)
end
modes(300)
weak[1], weak[2], weak[3], weak[4] = nil, nil, nil, nil
collectgarbage()
modes(40)
print(looked > 0, wrong, next(weak) == nil)
