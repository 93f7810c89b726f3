-- Times a benchmark: runner.lua PROGRAM WARMUPS CALLS LIMIT ARGUMENTS...
--
-- PROGRAM is a module of this folder: a function that makes its data, does the work between timer.start() and
-- timer.stop(), and returns a check value. After the warm-up, which is WARMUPS calls or more of them if they are short, at most
-- CALLS samples are taken, fewer once LIMIT seconds of processor time are gone. A sample is a call, or, of calls too short
-- for the clock, the mean of several. A warm-up call that takes longer than LIMIT is the only call, and says so ("cold").
-- With LIMIT 0 there is one call.
-- Each line of the output is a word and a number:
--
--   warm 0.25
--   time 0.11
--   check 3.1415926535897931
local here = arg[0]:match("^(.*)[/\\][^/\\]*$") or "."
package.path = here .. "/?.lua"

local name, warmups, calls, limit = arg[1], tonumber(arg[2]), tonumber(arg[3]), tonumber(arg[4])
local arguments = {}
for i = 5, #arg do
    arguments[#arguments + 1] = tonumber(arg[i])
end
local unpack = table.unpack or unpack
local run = require(name)
local timer = require("timer")

-- Some systems' processor clocks tick only every few milliseconds.
local SHORTEST = 0.1
-- Seconds of warm-up at least, if there is any: some compilers take no more than a share of the time for themselves.
local WARM = 0.3

local check
local spent, is_cold = 0, false
local function timed_call()
    local before = os.clock()
    check = run(unpack(arguments))
    spent = spent + (os.clock() - before)
    return timer.seconds
end

local function print_line(word, number)
    print(string.format("%s %.17g", word, number))
end

local function sample()
    local seconds, count = 0, 0
    repeat
        seconds, count = seconds + timed_call(), count + 1
    until seconds >= SHORTEST or spent >= limit
    return seconds / count
end

local warm = 0
while warmups > 0 and not is_cold and (warm < warmups or spent < math.min(WARM, limit)) do
    local before, seconds = spent, timed_call()
    is_cold = spent - before > limit
    print_line(is_cold and "cold" or "warm", seconds)
    warm = warm + 1
end
if not is_cold then
    spent = 0
    for _ = 1, calls do
        print_line("time", sample())
        if spent >= limit then
            break
        end
    end
end
print_line("check", check)
