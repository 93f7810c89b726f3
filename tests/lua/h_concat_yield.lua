-- Long concatenations with metamethods that yield, fail, collect or change their operands, in hot loops.
local mode, calls = 0, 0
local mt = {}
mt.__concat = function(a, b)
  calls = calls + 1
  local x = type(a) == "table" and a.v or a
  local y = type(b) == "table" and b.v or b
  if mode == 1 then x = coroutine.yield(x) end
  if mode == 2 and calls % 11 == 0 then error("c" .. calls, 0) end
  if mode == 3 then collectgarbage("step") end
  if mode == 4 and type(a) == "table" then
    a.v = a.v .. "."
    return setmetatable({ v = "m" .. y:sub(1, 6) }, mt)
  end
  return x .. y
end
local function new(v) return setmetatable({ v = v }, mt) end
local function body(n)
  local a, b = new("a"), new("b")
  local hash, last = 0, ""
  for i = 1, n do
    local ok, r = pcall(function(s) return s .. i .. a .. "-" .. b .. i * 0.5 .. "z" end, "s" .. i)
    if type(r) == "table" then r = r.v end
    last = r
    local t = "p" .. b .. "q" .. i
    if type(t) == "table" then t = t.v end
    hash = (hash * 31 + #r * 7 + #t + (ok and 1 or 2)) % 1000003
    if #a.v > 8 then a.v = "a" end
    if #b.v > 8 then b.v = "b" end
  end
  return "end", hash .. " " .. last
end
for m = 0, 4 do
  for round = 1, 3 do
    mode, calls = m, 0
    local co = coroutine.create(body)
    local ok, v, w = coroutine.resume(co, 12 + round * 4)
    local steps = 0
    while ok and v ~= "end" do
      steps = steps + 1
      ok, v, w = coroutine.resume(co, "y" .. steps % 10)
    end
    print(m, round, ok, steps, calls, w or v)
  end
end
