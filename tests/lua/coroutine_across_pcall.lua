-- Coroutines that yield across pcall, metamethods and iterators, are closed, are traced by hooks, and go on
-- with other numbers of values than they gave.
local function f(i) return coroutine.yield(i) end
local co = coroutine.wrap(function()
    local sum = 0
    while true do
        local ok, v, w = pcall(f, sum)
        sum = sum + (v or 1) + (w or 0) + (ok and 0 or 1000)
    end
end)
local total = 0
for i = 1, 300 do
    if i % 3 == 0 then total = total + co() elseif i % 3 == 1 then total = total + co(i) else total = total + co(i, i) end
end
print(total)

-- Yields in metamethods and in iterators of Lua: the interpreter finishes the instruction.
local mt = {
    __add = function(a, b) return coroutine.yield(a.v + b) end,
    __index = function(t, k) return coroutine.yield(k) end,
    __lt = function(a, b) return coroutine.yield(a.v < b.v) end,
}
local object, other = setmetatable({ v = 1 }, mt), setmetatable({ v = 2 }, mt)
local calls = coroutine.wrap(function()
    local n = 0
    for i = 1, 200 do
        n = n + (object + i)
        n = n + #object.name
        if object < other then n = n + 1 end
        for k in function(_, last) if not last then return coroutine.yield("step") end end do n = n + k end
    end
    return "end", n
end)
local given, answers = calls(), 0
while given ~= "end" do
    answers = answers + 1
    local answer = answers
    if given == "name" then answer = "abc" elseif type(given) == "boolean" then answer = not given end
    local n
    given, n = calls(answer)
    if n then print(given, n) end
end
print(answers)

-- To be closed while suspended in a loop over another generator.
local closed = 0
local function guard() return setmetatable({}, { __close = function() closed = closed + 1 end }) end
for round = 1, 50 do
    local inner = coroutine.create(function()
        local a <close> = guard()
        for v in coroutine.wrap(function() for i = 1, 5 do coroutine.yield(i) end end) do
            local b <close> = guard()
            coroutine.yield(v)
        end
    end)
    for i = 1, round % 7 do coroutine.resume(inner) end
    coroutine.close(inner)
end
print(closed)

-- A hook that is set in a suspended coroutine sees what comes.
local lines = 0
local hooked = coroutine.create(function()
    local s = 0
    for i = 1, 100 do
        s = s + coroutine.yield(i)
    end
    return s
end)
local sum = 0
for i = 1, 100 do
    local _, v = coroutine.resume(hooked, i)
    sum = sum + v
    if i == 40 then debug.sethook(hooked, function() lines = lines + 1 end, "l") end
    if i == 60 then debug.sethook(hooked) end
end
print(sum, lines, select(2, coroutine.resume(hooked, 1)), coroutine.status(hooked))
