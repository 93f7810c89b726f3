-- A variable that is captured in one iteration, and again in a later one: by another closure while it is
-- still open, after it was closed, in the first iteration only, or late; with the frame's writes between.
local function once_in_a_while(n)
  local x, fs = 0, {}
  for i = 1, n do
    x = x + 1
    if i % 16 == 0 then fs[#fs + 1] = function() x = x + 100 return x end end
    if #fs > 0 and i % 5 == 0 then fs[#fs]() end
    if i % 48 == 0 then fs[1]() x = x / 2 end
  end
  return x, #fs, fs[1] and fs[1](), fs[#fs] and fs[#fs]()
end
for n = 1, 201, 40 do print(n, once_in_a_while(n)) end

local function first_only(n)
  local x, f = 5, nil
  for i = 1, n do
    if i == 1 then f = function(d) x = x + d return x end end
    x = x + 1
    if i % 3 == 0 then f(i) end
    if i % 100 == 0 then x = x % 7 * 0.5 end
  end
  return x, f and f(0)
end
for n = 0, 300, 50 do print(n, first_only(n)) end

-- Each iteration has a new variable, which is captured twice, once or not at all.
local function by_turns(n)
  local open, s = {}, 0
  for i = 1, n do
    local x = i
    if i % 4 > 1 then open[#open + 1] = function() x = x + 1 return x end end
    x = x * 2
    if i % 4 > 2 then
      open[#open + 1] = function() x = x - 0.5 return x end
      x = x + 1
    end
    s = s + x
    if i % 32 == 0 then
      for _, f in ipairs(open) do s = s + f() + f() end
      open = {}
    end
  end
  return s, #open
end
for n = 0, 200, 50 do print(n, by_turns(n)) end

-- An outer variable is captured by closures of an inner loop, whose own variable is captured as well.
local function two_loops(n)
  local total = 0
  for i = 1, n do
    local outer = i
    local f
    for j = 1, 4 do
      local inner = j
      if (i + j) % 3 == 0 then
        local before = f
        f = function(k)
          outer = outer + inner
          inner = inner + k
          return before and before(k + 1) or outer
        end
      end
      outer = outer + 0.25
    end
    total = total + (f and f(1) or 0) + outer
  end
  return total
end
for n = 1, 101, 20 do print(n, two_loops(n)) end

-- The closure is captured itself: f refers to the variable that holds it, which gets another one later.
local function self_reference(n)
  local f, s = nil, 0
  for i = 1, n do
    local old = f
    if i % 9 == 1 then
      f = function(k)
        if k <= 0 then return i end
        return (old or f)(k - 1) + 1
      end
    end
    s = s + f(i % 4)
    if i % 30 == 0 then f = function(k) return k end end
  end
  return s
end
for n = 1, 121, 20 do print(n, self_reference(n)) end

-- Captured by a function that is called with another number of arguments each time, and joined later.
local function joined(n)
  local a, b = 0, 0
  local fa, fb = function(d) a = a + d return a end, function(d) b = b + d return b end
  local s = 0
  for i = 1, n do
    s = s + fa(1) + fb(2)
    if i % 40 == 20 then debug.upvaluejoin(fa, 1, fb, 1) end
    if i % 40 == 0 then fa = function(d) a = a + d return a end end
    a, b = a + 1, b + 0.5
  end
  return s, a, b
end
for n = 10, 130, 30 do print(n, joined(n)) end

-- A variable of a function that is inlined into a loop is captured in some of its calls.
local kept = {}
local function callee(i)
  local x = i
  if i % 25 == 0 then kept[#kept + 1] = function() x = x + 1 return x end end
  x = x + 1
  return x
end
local s = 0
for i = 1, 400 do
  s = s + callee(i)
  if i % 50 == 0 then s = s + kept[#kept]() + kept[1]() end
end
print(s, #kept, kept[1](), kept[16]())
