-- Tracebacks taken inside calls from hot loops: through pcall, metamethods, sort, gsub, coroutines.
local function short(text) return (text:gsub("\n%s*", " | ")) end
local last
local function here() last = short(debug.traceback("at", 2)) return 0 end
local t = setmetatable({}, {
  __index = function(_, k) here() return k end,
  __add = function(a, b) here() return 1 end,
  __call = function(self, x) here() return x end,
  __lt = function() here() return true end,
  __concat = function() here() return "c" end,
  __close = function() here() end,
})
local function once(what, i)
  if what == 1 then return t[i]
  elseif what == 2 then return t + i
  elseif what == 3 then return (t(i))
  elseif what == 4 then return t < t
  elseif what == 5 then return t .. i
  elseif what == 6 then local x <close> = t return i
  elseif what == 7 then return (pcall(here))
  elseif what == 8 then local l = { 2, 1 } table.sort(l, function(a, b) here() return a < b end) return l[1]
  elseif what == 9 then return (("x"):gsub("x", here))
  elseif what == 10 then return coroutine.wrap(function() return here() end)()
  elseif what == 11 then return select(2, load("local f = ... return 1, f()", "=chunk")(here))
  end
  return here()
end
for what = 1, 12 do
  local seen, count = nil, 0
  for i = 1, 7 do
    local value = once(what, i)
    if last ~= seen then count = count + 1 end
    seen = last
  end
  print(what, count, seen)
end
-- Of a suspended coroutine in a loop.
local co = coroutine.create(function()
  for i = 1, 9 do
    local function inside() coroutine.yield(i) end
    inside()
  end
end)
for i = 1, 9 do
  coroutine.resume(co)
  if i > 6 then print(i, short(debug.traceback(co))) end
end
