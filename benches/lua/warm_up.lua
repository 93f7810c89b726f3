-- Does a piece of work again and again in one process: warm_up.lua LIMIT LEAST MOST row PROGRAM ARGUMENTS...
--                                                      warm_up.lua LIMIT LEAST MOST program FILE
--
-- The work is a call of a module of this folder, as in runner.lua, or of a program's chunk. The chunk is loaded
-- once, so that its functions stay the same ones for the JIT as far as the program lets them. Calls are made
-- until LIMIT seconds of processor time are gone, but LEAST at least and MOST at most. What a program prints goes
-- to standard output, once for each call. In the end a line for each call goes to standard error: processor time
-- since the process began, and that of the call (of a module what lies between timer.start() and timer.stop()).
-- The check value follows, if there is one:
--
--   call 0.004125 0.001873
--   check 3.1415926535897931
local here = arg[0]:match("^(.*)[/\\][^/\\]*$") or "."
package.path = here .. "/?.lua"

local limit, least, most, kind, name = tonumber(arg[1]), tonumber(arg[2]), tonumber(arg[3]), arg[4], arg[5]
local clock = os.clock
local check

local function row()
    local arguments = {}
    for i = 6, #arg do
        arguments[#arguments + 1] = tonumber(arg[i])
    end
    local unpack = table.unpack or unpack
    local run, timer = require(name), require("timer")
    return function()
        local value = run(unpack(arguments))
        if check and check ~= value then
            error("another check value than in the call before")
        end
        check = value
        return timer.seconds
    end
end

local function program()
    local chunk = assert(loadfile(name))
    -- As the command itself would set it.
    arg = { [0] = name }
    return function()
        local before = clock()
        chunk()
        return clock() - before
    end
end

local work = kind == "row" and row() or program()
local ends, seconds, count = {}, {}, 0
repeat
    local spent = work()
    count = count + 1
    ends[count], seconds[count] = clock(), spent
until count >= most or count >= least and ends[count] >= limit

for i = 1, count do
    io.stderr:write(string.format("call %.6f %.6f\n", ends[i], seconds[i]))
end
if check then
    io.stderr:write(string.format("check %.17g\n", check))
end
