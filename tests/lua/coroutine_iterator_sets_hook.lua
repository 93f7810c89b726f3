-- Hooks that an iterator of C sets in the thread that calls it: what follows is counted as the interpreter counts it.
local main = coroutine.running()
local counted, lines = 0, {}
local function generator(n)
    return coroutine.wrap(function()
        for i = 1, n do
            if i == n - 3 then
                debug.sethook(main, function(event, line) counted = counted + 1; lines[#lines + 1] = event:sub(1, 1) .. (line or "") end, "l", 1)
            end
            coroutine.yield(i)
        end
    end)
end
for round = 1, 30 do
    local s = 0
    for v in generator(40) do
        s = s + v
    end
    debug.sethook()
    if round % 10 == 0 then print(s, counted, #lines) end
end
print(table.concat(lines, " ", 1, 60))
