-- What happens inside metamethods and iterators that are part of a trace: yields, errors, hooks, closed coroutines, deep nesting.
local Y = { __index = function(t, k) if k % 37 == 0 then coroutine.yield(k) end return k end }
local y = setmetatable({}, Y)
local co = coroutine.create(function() local s = 0 for i = 1, 100 do s = s + y[i] end return s end)
print(coroutine.resume(co)) print(debug.traceback(co)) print(coroutine.close(co), coroutine.status(co))
local co2 = coroutine.wrap(function() local s = 0 for i = 1, 100 do s = s + y[i] end return s end)
print(co2(), co2(), co2())
-- pcall in a loop around loops with errors in metamethods
local E = setmetatable({}, { __index = function(t, k) if k == 30 then error({ k }) end return k end })
local n = 0
for r = 1, 50 do local ok, e = pcall(function() local s = 0 for i = 1, 40 do s = s + E[i] end return s end) n = n + e[1] end
print(n)
-- yields across pcall in a metamethod
local P = setmetatable({}, { __add = function(a, b) if b % 20 == 0 then return select(2, pcall(coroutine.yield, b)) end return b end })
local co3 = coroutine.wrap(function() local s = 0 for i = 1, 70 do s = s + (P + i) end return s end)
local v = co3() while type(v) == "number" and v <= 70 do v = co3(v * 100) end print(v)
-- count hook during
local hooks = 0
local I = setmetatable({}, { __index = function(t, k) if k == 60 then debug.sethook(function() hooks = hooks + 1 end, "l") end if k == 62 then debug.sethook() end return k end })
local s = 0
for i = 1, 90 do s = s + I[i] end
print(s, hooks)
local calls = {}
local J = setmetatable({}, { __index = function(t, k) if k == 60 then debug.sethook(function(e, l) calls[#calls + 1] = e end, "cr") end if k == 63 then debug.sethook() end return k end })
for i = 1, 90 do s = s + J[i] end
print(s, table.concat(calls, " "))
local function it(l, i) if i == 70 then debug.sethook(function(e, l) calls[#calls + 1] = e .. l end, "l") end if i == 72 then debug.sethook() end if i < l then return i + 1 end end
for i in it, 90, 0 do s = s + i end
print(s, table.concat(calls, " "))
-- nested: metamethod in iterator in metamethod
local Q = setmetatable({}, { __index = function(t, k) local r = 0 for i in function(l, i) if i < l then return i + P end end, 3, 0 do r = r + i if r > 100 then break end end return r + k end })
getmetatable(P).__add = function(a, b) if type(a) == "number" then return a + 1 end return b end
for i = 1, 90 do s = s + Q[i] end
print(s)
-- many metamethods one in the other, each with a loop of its own, up to the limit of calls through C
local D = {} local d = setmetatable({}, D)
local function loop(k) local r = 0 for i = 1, 10 do r = r + y[1] end return r end
D.__index = function(t, k) if k == 0 then return 0 end return loop(k) + t[k - 1] end
for _, k in ipairs { 20, 100, 150, 250 } do print(pcall(function() return d[k] end)) end
