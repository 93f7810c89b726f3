-- Functions return to code that has called them, to the interpreter and to C. Their records were those of
-- other calls before. Meanwhile hooks are set, the stack moves, errors pass, coroutines yield.
local out = {}
local function say(...) out[#out + 1] = table.concat({...}, " ") end

local function one(x) return x end
local function none() end
local function two(x) return x, x + 1 end
local function any(...) return ... end
local function tail(f, x) return f(x) end

-- all numbers of results, from each kind of return
for i = 1, 60 do
  local a, b, c = one(i)
  local d, e, f = two(i)
  local g, h = none()
  local j, k = any(i, a, d)
  local l = tail(one, i)
  local m, n = tail(two, i)
  one(i) two(i) none() any(i)
  if i % 20 == 0 then
    say(a, tostring(b), tostring(c), d, e, tostring(f), tostring(g), tostring(h), j, k, l, m, n,
        #{one(i), two(i)}, #{two(i), one(i)}, select("#", none()), select("#", any(i, nil)))
  end
end

-- a hook is set in a called function: its caller sees the next line
local lines = {}
local function hooked(i)
  if i == 50 then
    debug.sethook(function (event, line) lines[#lines + 1] = event .. line end, "l")
  end
  return i
end
local sum = 0
for i = 1, 55 do
  sum = sum + hooked(i)
  if i == 51 then debug.sethook() end
end
local first = lines[1] and tonumber(lines[1]:match("%d+"))
for n, text in ipairs(lines) do say(n, tonumber(text:match("%d+")) - first) end
say(sum)

-- returns and calls are seen from the call on that has set the hook
local events = {}
local function watch(i)
  if i == 40 then
    debug.sethook(function (event) events[#events + 1] = event end, "cr")
  elseif i == 42 then
    debug.sethook()
  end
  return one(i)
end
for i = 1, 45 do local r = watch(i); r = one(r) end
say(table.concat(events, ","))

-- the stack moves in a called function, deeper each time
local function deep(n) if n == 0 then return 0 end return 1 + deep(n - 1) end
for i = 1, 40 do
  local a, b = deep(i * 40), one(i)
  if i % 10 == 0 then say(a, b) end
end

-- errors leave records as they are; C functions and others use them next
local function fails(n) if n == 0 then error("at the bottom", 0) end return 1 + fails(n - 1) end
local object = setmetatable({}, {
  __index = function (_, k) return one(k) .. "!" end,
  __add = function (a, b) return one(b) * 2 end,
  __call = function (self, x) return two(x) end,
  __lt = function () return none() end,
  __concat = function (a, b) return tail(one, "joined") end,
})
for i = 1, 60 do
  local ok, message = pcall(fails, i % 7)
  local a, b = object(i)
  local c = object + i
  local d = object.name
  local e = object < object
  local f = object .. "x"
  local g = pcall(one, i)
  local h = {pcall(two, i)}
  if i % 15 == 0 then
    say(tostring(ok), message, a, b, c, d, tostring(e), f, tostring(g), #h, h[3])
  end
end

-- C calls and is returned to
for i = 1, 40 do
  local t = {5, 3, i, 1, 4}
  table.sort(t, function (a, b) return one(a) < one(b) end)
  local s = ("abc"):gsub("%w", function (c) return one(c) .. i end)
  if i % 20 == 0 then say(table.concat(t, ","), s) end
end

-- coroutines go on in functions that other calls have called
local function inner(i) local x = coroutine.yield(i) return one(x) end
local function outer(i) local x, y = inner(i), two(i) return x + y end
local co = coroutine.wrap(function () for i = 1, 100 do outer(i) end return "over" end)
local total = 0
for i = 1, 100 do total = total + co(i) end
say(total, co(1))

-- a function that is called by the interpreter first, and by code later
local late
for i = 1, 80 do
  if i == 30 then late = function (x) return one(x) + 1 end end
  if late then
    local r = late(i)
    if i % 25 == 0 then say(r) end
  end
end

-- results that lie where a function with variable arguments was
local function shifted(...) local a = select("#", ...) return a, ... end
for i = 1, 50 do
  local n, a, b = shifted(i, i + 1, i + 2)
  if i % 25 == 0 then say(n, a, b) end
end

print(table.concat(out, "\n"))
