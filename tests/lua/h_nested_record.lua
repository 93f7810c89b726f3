-- Callees that run hot loops while the recording of the loop that called them waits, the same loop among
-- them.
local function spin(n) local s = 0 for i = 1, n do s = s + i % 5 end return s end
local function tree(depth, f)
  local s = 0
  for i = 1, 4 do
    s = s + i
    if depth > 0 then s = s + f(tree, depth - 1, f) end
  end
  return s
end
local function direct(f, ...) return f(...) end
local function protected(f, ...) local ok, v = pcall(f, ...) return v end
local function sorted(f, ...)
  local args, r = table.pack(...), 0
  table.sort({ 2, 1 }, function(a, b)
    if r == 0 then r = f(table.unpack(args, 1, args.n)) end
    return a < b
  end)
  return r
end
local function wrapped(f, ...) return coroutine.wrap(f)(...) end
local function loaded(f, ...) return load("return (...)(select(2, ...))")(f, ...) end
for depth = 0, 3 do
  print(depth, tree(depth, direct), tree(depth, protected), tree(depth, sorted), tree(depth, wrapped),
    tree(depth, loaded))
end
local total = 0
for i = 1, 30 do
  total = total + select(2, pcall(spin, i * 3))
  local t = {}
  for k = 1, 5 do t[k] = (k * 7 + i) % 11 end
  table.sort(t, function(a, b) local x = spin(6) return a + x < b + x end)
  total = total + t[1] * 10 + t[5]
  total = total + #(("abcd"):gsub(".", function(c) return c:rep(1 + spin(9) % 3) end))
end
print(total)
-- An error in the depth is caught at some level, with loops waiting in between.
local function climb(depth, at)
  local s = 0
  for i = 1, 6 do
    s = s + i
    if depth == 0 and i == at then error(s, 0) end
    if depth > 0 and i % 3 == 0 then
      if depth % 2 == 0 then
        local ok, v = pcall(climb, depth - 1, at)
        s = s + v * (ok and 1 or 2)
      else
        s = s + climb(depth - 1, at)
      end
    end
  end
  return s
end
for at = 1, 8 do print(at, select(2, pcall(climb, 4, at))) end
