-- The part of a benchmark that is timed: what lies between 'start' and 'stop', in processor time. Making the data and
-- the check value stays outside.
local timer = { seconds = 0.0 }

local clock = os.clock
local started

function timer.start()
    started = clock()
end

function timer.stop()
    timer.seconds = clock() - started
end

return timer
